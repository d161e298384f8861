#include <algorithm>

#include "takt/events/source.hpp"

namespace takt::events {

Losses& Losses::operator+=(const Losses& other) {
  discarded_events += other.discarded_events;
  discarded_packets += other.discarded_packets;
  unreadable_bytes += other.unreadable_bytes;
  const std::size_t room = max_faults - std::min(max_faults, faults.size());
  const auto added = static_cast<std::ptrdiff_t>(std::min(room, other.faults.size()));
  faults.insert(faults.end(), other.faults.begin(), other.faults.begin() + added);
  return *this;
}

}  // namespace takt::events
