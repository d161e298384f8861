#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "takt/capture/ring/writer.hpp"
#include "takt/capture/tracepoints/schema.hpp"

/// This process's ring: made when the library is loaded, written while a recorder asks for events.
namespace takt::tracetools {

using Event = capture::tracepoints::Event;

/// The ring in use. Until there is one, and where there can be none, one that nobody reads.
extern capture::ring::Header* process_ring;

/// Changes when `process_ring` does: threads then introduce themselves anew.
extern std::uint64_t ring_generation;

struct ThreadState {
  std::uint64_t ring_generation = 0;
  capture::ring::Writer writer{};
};
// Read for every event: the model that needs no call to find it.
extern thread_local constinit ThreadState this_thread __attribute__((tls_model("initial-exec")));

/// Mask of the events that this library has functions for.
std::uint64_t available_events();

/// Makes the ring and offers it to the recorder that started this process, if one did.
void open_ring();

/// Gives the calling thread its entry in the ring.
void introduce_thread();

/// Whether a recorder wants the event. Initialisation events are always kept, for a recorder that
/// comes later. For the others it is a load and a branch in line: all that they cost if unwanted.
template <Event event>
[[gnu::always_inline]] inline bool ring_wants() {
  if constexpr (capture::tracepoints::is_initialisation(event)) {
    return true;
  } else {
    const auto enabled = process_ring->enabled.load(std::memory_order_relaxed);
    return (enabled >> static_cast<unsigned>(event) & 1) != 0;
  }
}

/// Held by the thread that says something of an object: into the ring, if a recorder wants it, and
/// into the object log.
class ObjectEntry {
 public:
  ObjectEntry();
  ~ObjectEntry();
  ObjectEntry(const ObjectEntry&) = delete;
  ObjectEntry& operator=(const ObjectEntry&) = delete;

  template <typename... Fields>
  void write(Event event, const Fields&... fields) const {
    auto& ring = *process_ring;
    const auto number = static_cast<std::uint8_t>(event);
    // What finds no room in the ring is not lost: it is in the log, which counts what it has no
    // room for. In this order: who sees the events enabled also sees for which recording.
    const bool wanted = (ring.enabled.load(std::memory_order_acquire) >> number & 1) != 0;
    const std::uint64_t recording = wanted ? ring.recording.load(std::memory_order_relaxed) : 0;
    const bool written =
        wanted && capture::ring::try_write(ring, this_thread.writer, number, fields...);
    if (has_log_) {
      capture::ring::log(ring, this_thread.writer, name_, written ? recording : 0, number,
                         fields...);
    }
  }

 private:
  bool has_log_;
  capture::ring::ThreadName name_{};  // of this thread
};

/// Puts an event into the ring if a recorder wants it.
template <Event event, typename... Fields>
void record(const Fields&... fields) {
  if (!ring_wants<event>()) {
    return;
  }
  if (this_thread.ring_generation != ring_generation) [[unlikely]] {
    introduce_thread();
  }
  if constexpr (capture::tracepoints::is_initialisation(event)) {
    ObjectEntry().write(event, fields...);
  } else {
    capture::ring::write(*process_ring, this_thread.writer, static_cast<std::uint8_t>(event),
                         fields...);
  }
}

}  // namespace takt::tracetools
