#include "doubles.hpp"

#include "takt/base/grow.hpp"

namespace takt::events {

bool Doubles::are_equal(const Delivered& one, const Event& other, const Payload& payload) {
  return one.event.type == other.type && one.event.values == other.values &&
         one.payload.texts == payload.texts && one.payload.lists == payload.lists;
}

bool Doubles::repeats(const Batch& batch, std::size_t trace) {
  const Event& event = batch.events.back();
  const Payload& payload = batch.payload(event);
  const std::uint64_t mark = std::uint64_t{1} << (trace % 64);
  auto& recent = grow_to(recent_, event.thread);
  while (!recent.empty() &&
         (event.time - recent.front().event.time > window || recent.size() == most_of_a_thread)) {
    recent.pop_front();
  }
  for (Delivered& delivered : recent) {
    if ((delivered.traces & mark) == 0 && are_equal(delivered, event, payload)) {
      delivered.traces |= mark;
      return true;
    }
  }
  recent.push_back({event, payload, mark});
  return false;
}

}  // namespace takt::events
