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
  Duration cost = curve_.front();
  Duration before{0};
  for (std::size_t back = 0; back + 1 < curve_.size(); ++back) {
    before += recent_[(newest_ + recent_.size() - back) % recent_.size()];
    cost = std::min(cost, curve_[back + 1] - before);
  }
  newest_ = (newest_ + 1) % recent_.size();
  recent_[newest_] = cost;
  return cost;
}

}  // namespace takt::workload
