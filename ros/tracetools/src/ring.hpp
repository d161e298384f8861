#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "takt/capture/ring/writer.hpp"
#include "takt/tracepoints/tracepoints.hpp"

/// This process's ring: made by its first event, written while a recorder asks for events.
namespace takt::tracetools {

using tracepoints::EventType;

/// The ring in use. Until the ring of this process has been made, or if it cannot be made, this is
/// a ring that nobody reads.
extern std::atomic<capture::ring::Header*> process_ring;

/// How many slots the ring in use has.
std::uint64_t slots_of_ring();

/// Changes when `process_ring` does: threads then introduce themselves anew.
extern std::atomic<std::uint64_t> ring_generation;

struct ThreadState {
  std::uint64_t ring_generation = 0;
  capture::ring::Writer writer{};
  bool introducing = false;  // itself or an object; signal handlers of the thread look at it
};
// Read for every event, so it has the TLS model that needs no function call.
extern thread_local constinit ThreadState this_thread __attribute__((tls_model("initial-exec")));

/// Makes the ring of this process, and hands it to a recorder if one waits for it.
void open_ring_of_process();

/// A fork finds no thread at an introduction. Each lock is followed by an unlock, in the child too.
void lock_ring_for_fork();
void unlock_ring_after_fork();

/// A child made by fork has its parent's ring mapped and must not write to it. It gets its own ring
/// when it has an event to write; most children execute another program before that.
void leave_parents_ring();

/// Mask of the events that this library has functions for.
std::uint64_t available_events();

/// Gives the calling thread its entry in the ring.
void introduce_thread();

/// Makes the object log's memory usable up to byte `end`; false if that is impossible. Only the
/// thread that writes the log may call it.
bool reach_into_log(std::size_t end);

/// After an event that was put into the object log, by the thread that did it: the selection goes
/// by what is in the log (left_out.hpp).
void note_logged_object();

/// The ring in use. A relaxed load is enough: every processor reads what a pointer points to after
/// the pointer itself, so the caller sees all that was written before the ring came into use.
[[gnu::always_inline]] inline capture::ring::Header& ring_in_use() {
  return *process_ring.load(std::memory_order_relaxed);
}

/// Whether a recorder wants the event. Initialisation events are always kept, for a recorder that
/// comes later. For other events this is an inlined load and branch: all that an unwanted event
/// costs.
template <EventType event>
[[gnu::always_inline]] inline bool ring_wants() {
  if constexpr (tracepoints::is_initialisation(event)) {
    return true;
  } else {
    const auto enabled = ring_in_use().enabled.load(std::memory_order_relaxed);
    return (enabled >> static_cast<unsigned>(event) & 1) != 0;
  }
}

/// Held by a thread while it writes an initialisation event: into the ring, if a recorder wants it,
/// and into the object log.
class ObjectEntry {
 public:
  ObjectEntry();
  ~ObjectEntry();
  ObjectEntry(const ObjectEntry&) = delete;
  ObjectEntry& operator=(const ObjectEntry&) = delete;

  template <typename... Fields>
  void write(EventType event, const Fields&... fields) const {
    auto& ring = ring_in_use();
    const auto number = static_cast<std::uint8_t>(event);
    // An event that finds no room in the ring is not lost: it goes into the log, which counts the
    // events that it has no room for. `enabled` is loaded first: a thread that sees the event
    // enabled also sees the number of the recording that enabled it.
    const bool wanted = (ring.enabled.load(std::memory_order_acquire) >> number & 1) != 0;
    const std::uint64_t recording = wanted ? ring.recording.load(std::memory_order_relaxed) : 0;
    const bool written =
        wanted && capture::ring::try_write(ring, this_thread.writer, number, fields...);
    if (has_log_ && interrupting_) {
      ring.log_dropped.fetch_add(1, std::memory_order_relaxed);
    } else if (has_log_) {
      capture::ring::log(ring, this_thread.writer, name_, written ? recording : 0, reach_into_log,
                         number, fields...);
      note_logged_object();
    }
  }

 private:
  // This is a signal handler that interrupts its own thread at an entry: it must not write the log.
  bool interrupting_;
  bool has_log_;
  capture::ring::ThreadName name_{};  // of this thread
};

/// Puts an event into the ring if a recorder wants it.
template <EventType event, typename... Fields>
void record(const Fields&... fields) {
  if (!ring_wants<event>()) {
    return;
  }
  if (this_thread.ring_generation != ring_generation.load(std::memory_order_relaxed)) [[unlikely]] {
    introduce_thread();
    if (!ring_wants<event>()) {  // there is no ring: a forked child found no descriptor for it
      return;
    }
  }
  if constexpr (tracepoints::is_initialisation(event)) {
    ObjectEntry().write(event, fields...);
  } else {
    capture::ring::write(ring_in_use(), this_thread.writer, static_cast<std::uint8_t>(event),
                         fields...);
  }
}

}  // namespace takt::tracetools
