#include "takt/workload/release_period.hpp"

#include <algorithm>

namespace takt::workload {
namespace {

Duration shortest_period(const model::PeriodicActivation& periodic) { return periodic.period; }

Duration shortest_period(const model::SporadicActivation& sporadic) {
  return sporadic.min_separation;
}

/// n activations of period T span (n - 1) T, which must be at least values[n - 1] for every n.
Duration shortest_period(const model::MinDistanceActivation& distances) {
  Duration period{1};
  for (std::size_t n = 2; n <= distances.values.size(); ++n) {
    const auto gaps = static_cast<Duration::rep>(n - 1);
    period = std::max(period, (distances.values[n - 1] + Duration(gaps - 1)) / gaps);
  }
  return period;
}

}  // namespace

Duration release_period(const model::Activation& activation) {
  return std::visit([](const auto& pattern) { return shortest_period(pattern); }, activation);
}

}  // namespace takt::workload
