#include "doubles.hpp"

#include <algorithm>

#include "takt/base/grow.hpp"

namespace takt::events {
namespace {

bool has_content(const Event& event) {
  return event.payload != no_payload ||
         std::ranges::any_of(event.values, [](std::uint64_t value) { return value != 0; });
}

}  // namespace

bool Doubles::are_equal(const Delivered& one, const Event& other, const Payload& payload) {
  return one.event.type == other.type && one.event.values == other.values &&
         one.payload.texts == payload.texts && one.payload.lists == payload.lists;
}

bool Doubles::repeats(const Batch& batch, std::size_t trace) {
  const Event& event = batch.events.back();
  const Payload& payload = batch.payload(event);
  const std::uint64_t mark = std::uint64_t{1} << (trace % 64);
  auto& recent = grow_to(recent_, event.thread);
  while (recent.size() > 1 &&
         (event.time - recent.front().event.time > window || recent.size() == most_of_a_thread)) {
    recent.pop_front();
  }
  const Duration latest = has_content(event) ? longest_preemption : window;
  if (!recent.empty() && event.time - recent.back().event.time > latest) recent.clear();
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
