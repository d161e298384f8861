#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/ctf/storage.hpp"

namespace takt::ctf {

/// An event as the metadata describes it: its declarations are the CTF declarations of its fields.
struct EventClass {
  std::uint16_t id;
  std::string name;
  std::string declarations;
};

/// The clock of a trace's events, in nanoseconds.
struct Clock {
  std::string uuid;         // traces with the same one need no alignment
  std::int64_t offset = 0;  // from the epoch to its zero
};

/// The contents of a trace's metadata.
struct Description {
  Clock clock;
  std::vector<std::pair<std::string, std::string>> environment;  // values: "text" or number
  std::vector<EventClass> events;
  std::string contexts;  // CTF declarations of what precedes the fields of every event
};

/// A sequence of events in the order of their times, in a file of its own.
class Stream {
 public:
  Stream(Storage& storage, std::filesystem::path file, Kept kept, std::array<std::byte, 16> trace,
         std::uint64_t number);

  /// Appends an event. An event earlier than the one before is given that one's time: the times of
  /// a stream never decrease.
  void append(std::uint64_t time, std::uint16_t id, std::span<const std::byte> contexts,
              std::span<const std::byte> fields);
  /// Says that `count` events in all, since the stream began, were not recorded. It never
  /// decreases.
  void set_discarded(std::uint64_t count) { discarded_ = std::max(discarded_, count); }
  /// Writes what is buffered, and news of discarded events.
  void flush();
  /// Events that the storage did not take.
  [[nodiscard]] std::uint64_t unwritten() const { return unwritten_; }

 private:
  Storage& storage_;
  std::filesystem::path file_;
  Kept kept_;
  std::vector<std::byte> packet_;
  std::uint64_t begin_ = 0;  // times of the packet's first and last event
  std::uint64_t last_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t discarded_ = 0;
  std::uint64_t discarded_written_ = 0;
  std::uint64_t events_ = 0;  // in the packet
  std::uint64_t unwritten_ = 0;
};

/// A trace in the Common Trace Format 1.8, with the layout of packets and event headers that
/// LTTng's user-space traces have, so that readers of those read it.
class Trace {
 public:
  /// Writes the metadata. `storage` must outlive the trace and its streams. Error: it cannot be
  /// written.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> create(Storage& storage,
                                                             const std::filesystem::path& directory,
                                                             const Description& description);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  /// Completes the trace.
  ~Trace() { storage_.complete(directory_); }

  /// A new stream, in the file `name`.
  [[nodiscard]] std::unique_ptr<Stream> open_stream(const std::string& name,
                                                    Kept kept = Kept::among_newest);

 private:
  Trace(Storage& storage, std::filesystem::path directory)
      : storage_(storage), directory_(std::move(directory)) {}

  Storage& storage_;
  std::filesystem::path directory_;
  std::array<std::byte, 16> uuid_{};
  std::uint64_t streams_ = 0;
};

}  // namespace takt::ctf
