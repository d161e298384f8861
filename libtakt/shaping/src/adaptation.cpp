#include "takt/shaping/adaptation.hpp"

#include <algorithm>

#include "takt/shaping/profile.hpp"

namespace takt::shaping {

namespace {

/// The mean latency of outputs in these slots; none: some would miss them.
std::optional<double> mean_latency(const std::deque<Duration>& ready,
                                   const std::vector<Slot>& slots, Duration publish_time) {
  std::vector<Band> bands;
  for (const Slot& slot : slots) bands.push_back({.slot = slot, .latency = {}, .share = 0});
  double sum = 0;
  for (const Duration one : ready) {
    const auto left = departure(bands, one, publish_time);
    if (!left) return std::nullopt;
    sum += static_cast<double>(left->count());
  }
  return sum / static_cast<double>(ready.size());
}

}  // namespace

std::optional<std::vector<Slot>> Adaptation::observe(Duration ready) {
  recent_.push_back(ready);
  if (recent_.size() > window) recent_.pop_front();
  if (--until_look_ > 0) return std::nullopt;
  until_look_ = interval;
  const auto profile = Profile::of({recent_.begin(), recent_.end()});
  if (!profile) return std::nullopt;
  // The chain may have become longer than its cycle: then there are no slots for it.
  const auto placed = place(*profile, options_);
  if (!placed) return std::nullopt;
  std::vector<Slot> better;
  for (const Band& band : placed->bands) better.push_back(band.slot);
  const Duration publish_time = options_.publish_time.value_or(Duration{0});
  const auto present = mean_latency(recent_, slots_, publish_time);
  const auto then = mean_latency(recent_, better, publish_time);
  if (!then || (present && *then > *present * (1 - worthwhile))) return std::nullopt;
  slots_ = better;
  return better;
}

}  // namespace takt::shaping
