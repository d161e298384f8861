#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/capture/ring/layout.hpp"
#include "takt/capture/tracepoints/schema.hpp"

namespace takt::capture::ring {

/// One event, valid until the reader's next call.
struct Event {
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, nanoseconds
  std::uint32_t thread = 0;
  std::uint8_t thread_entry = 0;
  std::uint8_t number = 0;             // position in tracepoints::all
  std::span<const std::byte> payload;  // checked: has the fields of its tracepoint and nothing else
};

/// The reading side of one process's ring. The memory is shared with a process that may be broken
/// or malicious: whatever it holds is copied before it is checked, every number from it is bounded,
/// and such a process loses its own events and nothing else.
class Reader {
 public:
  /// Takes possession of a ring whose memory is open as `memory` (which stays the caller's), and
  /// begins with the events that come from now on. `enabled`: the events wanted, as a mask of event
  /// numbers. Errors: not a ring, of another version of Takt, or another recorder reads it.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> attach(int memory, std::uint64_t enabled);

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  /// Asks for no more events and lets go of the ring.
  ~Reader();

  /// The next event; none if the ring is empty now. O(size of the event).
  [[nodiscard]] std::optional<Event> next();

  /// Asks the process for no more events.
  void disable();
  /// To be called when the process has ended and next() finds nothing: passes over events that it
  /// did not complete. True if there is more to read.
  [[nodiscard]] bool pass_incomplete();

  /// Whether next() has something.
  [[nodiscard]] bool complete() const { return !broken_ && complete(tail_); }
  /// Whether everything that was begun has been read.
  [[nodiscard]] bool empty() const;

  [[nodiscard]] std::uint32_t gid_size() const { return gid_size_; }
  /// The process that says it writes this ring.
  [[nodiscard]] std::uint32_t process() const;
  /// Mask of the events that it can have.
  [[nodiscard]] std::uint64_t available() const;
  /// Threads that have introduced themselves so far; the last entry of the table stands for all
  /// that came too late.
  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] std::uint32_t thread_id(std::size_t entry) const;
  [[nodiscard]] std::array<char, 16> thread_name(std::size_t entry) const;
  /// Events of a thread that found the ring full: exactly, since it was made.
  [[nodiscard]] std::uint64_t dropped(std::size_t entry) const;
  /// Records that made no sense, or were not completed by a process that ended.
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }

  /// Sleeps until one of the rings has an event, or for at most `timeout`. The protocol of
  /// ros-llama.md S-4.4.1, with a flag in every ring: announce the sleep, look once more, sleep;
  /// the writer that takes the flag back wakes us.
  static void wait(std::span<Reader* const> rings, std::chrono::nanoseconds timeout);

 private:
  explicit Reader(Header* ring) : ring_(ring) { payload_.reserve(payload_limit); }

  [[nodiscard]] Record* record_at(std::uint64_t slot) const;
  [[nodiscard]] bool complete(std::uint64_t slot) const;

  Header* ring_;
  std::uint32_t gid_size_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t malformed_ = 0;
  bool owner_ = false;   // no other recorder reads it
  bool broken_ = false;  // nothing more can be read
  std::vector<std::byte> payload_;
};

}  // namespace takt::capture::ring
