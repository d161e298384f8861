#include "takt/events/event_stream.hpp"

#include <algorithm>
#include <limits>

namespace takt::events {

StreamLosses& StreamLosses::operator+=(const StreamLosses& other) {
  discarded_events += other.discarded_events;
  discarded_packets += other.discarded_packets;
  cut_elements += other.cut_elements;
  // A hostile index may list any number of them.
  if (__builtin_add_overflow(unreadable_bytes, other.unreadable_bytes, &unreadable_bytes)) {
    unreadable_bytes = std::numeric_limits<decltype(unreadable_bytes)>::max();
  }
  const std::size_t room = max_faults - std::min(max_faults, faults.size());
  const auto added = static_cast<std::ptrdiff_t>(std::min(room, other.faults.size()));
  faults.insert(faults.end(), other.faults.begin(), other.faults.begin() + added);
  return *this;
}

Duration EventStream::shift_of(HostIndex host, Duration offset) {
  if (offsets_.empty()) epoch_offset_ = offset;
  return bounded(offsets_.try_emplace(host, offset).first->second - epoch_offset_);
}

}  // namespace takt::events
