#include <algorithm>

#include "takt/events/event_stream.hpp"

namespace takt::events {

StreamLosses& StreamLosses::operator+=(const StreamLosses& other) {
  discarded_events += other.discarded_events;
  discarded_packets += other.discarded_packets;
  cut_elements += other.cut_elements;
  unreadable_bytes += other.unreadable_bytes;
  const std::size_t room = max_faults - std::min(max_faults, faults.size());
  const auto added = static_cast<std::ptrdiff_t>(std::min(room, other.faults.size()));
  faults.insert(faults.end(), other.faults.begin(), other.faults.begin() + added);
  return *this;
}

}  // namespace takt::events
