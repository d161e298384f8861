#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace takt::capture {

/// Where the events of one process go: into its trace, or to somebody who listens.
class ProcessSink {
 public:
  virtual ~ProcessSink() = default;

  /// Takes an event; `name` is the thread's. False if it is one too many.
  virtual bool append(std::uint64_t time, std::uint32_t thread, std::span<const char, 16> name,
                      std::uint16_t event, std::span<const std::byte> fields) = 0;
  /// Takes an initialisation event of an object that is older than the recording, which began at
  /// `time`.
  virtual void append_object(std::uint64_t time, std::uint32_t thread,
                             std::span<const char, 16> name, std::uint16_t event,
                             std::span<const std::byte> fields) = 0;
  /// Says how many events of objects have been lost so far.
  virtual void set_discarded_objects(std::uint64_t count) = 0;
  /// Passes on what is buffered.
  virtual void flush() = 0;
  /// Events that found no room.
  [[nodiscard]] virtual std::uint64_t unwritten() const = 0;
};

}  // namespace takt::capture
