#include "takt/shaping/profile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace takt::shaping {

Result<Profile> Profile::of(std::vector<Duration> latencies) {
  if (latencies.empty()) return error("no latency of the chain was observed");
  std::ranges::sort(latencies);
  if (latencies.front() <= Duration{0}) {
    return error("a latency of {} ns; all must be positive", latencies.front().count());
  }
  return Profile(std::move(latencies));
}

double Profile::mean() const {
  const auto add = [](double sum, Duration one) { return sum + static_cast<double>(one.count()); };
  return std::accumulate(sorted_.begin(), sorted_.end(), 0.0, add) /
         static_cast<double>(sorted_.size());
}

std::size_t Profile::at_most(Duration latency) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(sorted_, latency) - sorted_.begin());
}

Duration Profile::quantile(double q) const {
  const double rank = std::ceil(q * static_cast<double>(count()));
  const auto position = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted_[std::min(position, count() - 1)];
}

double confidence_band(std::size_t count, double confidence) {
  return std::sqrt(-std::log1p(-confidence) / (2 * static_cast<double>(count)));
}

double share_beyond(std::size_t count, double confidence) {
  return -std::expm1(std::log1p(-confidence) / static_cast<double>(count));
}

}  // namespace takt::shaping
