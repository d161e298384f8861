#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"
#include "takt/capture/event.hpp"
#include "takt/capture/ring/mapping.hpp"
#include "takt/capture/ring/object_log.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ring {

/// The reading side of one process's ring. The memory is shared with a process that may be broken
/// or malicious: whatever it holds is copied before it is checked, every number from it is bounded,
/// and such a process loses its own events and nothing else.
class Reader {
 public:
  /// Takes possession of a ring whose memory is open as `memory` (which stays the caller's). Begins
  /// with the events that come from now on or, if the process already writes for the reader of the
  /// process that forked it, with the first of those. `enabled`: the events wanted, as a mask of
  /// event numbers. `beginning` (CLOCK_MONOTONIC, nanoseconds): of the recording, which no event is
  /// before. `selection`: of the process's nodes and topics, as selection_text() has it. Errors:
  /// not a ring, of another version of Takt, or another recorder reads it.
  [[nodiscard]] static Result<std::unique_ptr<Reader>> attach(int memory, std::uint64_t enabled,
                                                              std::uint64_t beginning,
                                                              std::string_view selection = {});

  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  /// Asks for no more events and lets go of the ring.
  ~Reader();

  /// The next event; none if the ring is empty now, or if as many slots have been read since there
  /// was none as a ring has, but at most `slot_count`: who reads until there is none comes to an
  /// end, however fast the process writes, whatever it writes, and however large its ring is.
  /// O(size of the records that are passed over).
  [[nodiscard]] std::optional<Event> next();

  /// The next entry of the object log, without those that next() gives, too; none if there is none
  /// now. Objects that were made before this reader began are found here.
  [[nodiscard]] std::optional<Event> next_object() { return objects_->next(); }

  /// Asks the process for no more events.
  void disable();
  /// To be called when the process or the recording has ended and next() finds nothing: passes over
  /// events that were begun and not completed, and counts them as malformed; such events beside
  /// each other count as one, since nobody knows where one of them ends. True if there is more to
  /// read. From then on the process gets no slots back, because a thread that was stopped may still
  /// complete its event, and what is begun after the first such call is not read.
  [[nodiscard]] bool pass_incomplete();

  /// Whether everything that was begun has been read.
  [[nodiscard]] bool empty() const;

  /// When this reader began: CLOCK_MONOTONIC, nanoseconds.
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] std::uint32_t gid_size() const { return mapping_.gid_size(); }
  /// The process that says it writes this ring.
  [[nodiscard]] std::uint32_t process() const;
  /// Mask of the events that it can have.
  [[nodiscard]] std::uint64_t available() const;
  /// Threads that have introduced themselves so far; the last entry of the table stands for all
  /// that came too late.
  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] std::uint32_t thread_id(std::size_t entry) const;
  [[nodiscard]] std::array<char, 16> thread_name(std::size_t entry) const;
  /// The exact number of a thread's events that found the ring full since this reader began; of a
  /// process that scribbles over its ring, no more than a thread can have had in that time.
  [[nodiscard]] std::uint64_t dropped(std::size_t entry) const;
  /// The same of all threads together, which share the machine's processors.
  [[nodiscard]] std::uint64_t dropped_by_all() const;
  /// Objects that the log had no room for.
  [[nodiscard]] std::uint64_t dropped_objects() const { return objects_->dropped(); }
  /// Records that made no sense, or were passed over because they were not complete.
  [[nodiscard]] std::uint64_t malformed() const { return malformed_ + objects_->malformed(); }

 private:
  Reader(Mapping mapping, Descriptor lock)
      : mapping_(std::move(mapping)),
        ring_(mapping_.ring()),
        lock_(std::move(lock)),
        turn_left_(slots_of_a_turn()) {
    payload_.reserve(payload_limit);
  }

  [[nodiscard]] std::uint64_t slots_of_a_turn() const {
    return std::min(mapping_.slot_count(), ring::slot_count);
  }
  /// Passes over what was written before this reader, which may be a whole ring.
  void pass_older();
  [[nodiscard]] Record* record_at(std::uint64_t slot) const;
  [[nodiscard]] bool complete(std::uint64_t slot) const;
  /// Events that a processor can have given this ring since this reader began.
  [[nodiscard]] std::uint64_t possible_events() const;

  Mapping mapping_;
  Header* ring_;
  Descriptor lock_;  // keeps other readers away
  std::optional<ObjectLog> objects_;
  std::uint64_t tail_ = 0;
  std::uint64_t turn_left_;  // slots that are read before next() gives none once
  std::uint64_t malformed_ = 0;
  std::uint64_t start_ = 0;
  std::uint64_t earliest_ = 0;  // earliest time that an event of this recording can have
  std::array<std::uint64_t, thread_count + 1> dropped_before_{};
  Past past_;
  bool broken_ = false;     // nothing more can be read
  bool gives_back_ = true;  // the slots that it has read
  std::vector<std::byte> payload_;
};

}  // namespace takt::capture::ring
