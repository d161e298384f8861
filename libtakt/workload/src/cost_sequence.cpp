#include "takt/workload/cost_sequence.hpp"

#include <algorithm>
#include <cassert>

namespace takt::workload {

// Instances before the first one cost nothing: all windows then limit the first ones as they
// should.
CostSequence::CostSequence(std::span<const Duration> curve)
    : curve_(curve.begin(), curve.end()), recent_(curve.size(), Duration{0}) {
  assert(!curve_.empty());
}

Duration CostSequence::next() {
  const std::size_t length = curve_.size();
  assert(length > 0);
  const std::size_t to_peak = length - position_;
  const Duration peak = curve_.front();
  Duration cost = peak;
  Duration before{0};
  for (std::size_t window = 1; window <= length; ++window) {
    // The windows of this many instances that end with this one, and those that end with the next
    // ET(1) if the instances in between take nothing.
    cost = std::min(cost, curve_[window - 1] - before);
    if (window + to_peak <= length) {
      cost = std::min(cost, curve_[window + to_peak - 1] - peak - before);
    }
    before += recent_[(position_ + length - window) % length];
  }
  recent_[position_] = cost;
  position_ = (position_ + 1) % length;
  return cost;
}

}  // namespace takt::workload
