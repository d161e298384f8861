#include "execution_times.hpp"

#include <algorithm>
#include <utility>

namespace takt::simulation {

ExecutionTimes::ExecutionTimes(std::vector<Duration> curve, ExecutionModel model, double shortest,
                               Random random)
    : curve_(std::move(curve)), model_(model), random_(random), recent_(curve_.size()) {
  if (!curve_.empty()) {
    const double least = static_cast<double>(curve_.front().count()) * shortest;
    least_ = std::clamp(Duration(static_cast<std::int64_t>(least)), epsilon,
                        std::max(epsilon, curve_.front()));
  }
}

ExecutionTimes::ExecutionTimes(std::vector<Duration> list)
    : list_(std::move(list)), random_(0, Stream::execution, 0) {}

Duration ExecutionTimes::next(Duration limit) {
  if (!list_.empty()) {
    const Duration cost = list_[position_];
    position_ = (position_ + 1) % list_.size();
    return cost;
  }
  if (curve_.empty()) return Duration{0};
  Duration cost = std::min(allowed(), limit);
  if (model_ == ExecutionModel::random) {
    cost = std::min(cost, random_.between(least_, std::max(least_, curve_.front())));
  }
  recent_[position_] = cost;
  position_ = position_ + 1 == recent_.size() ? 0 : position_ + 1;
  return cost;
}

/// The greatest cost that keeps every window that ends with it within the curve. Longer windows
/// than the curve has values for follow by sub-additivity.
Duration ExecutionTimes::allowed() const {
  Duration most = curve_.front();
  Duration spent{};
  for (std::size_t n = 1; n < curve_.size(); ++n) {
    spent += recent_[(position_ + recent_.size() - n) % recent_.size()];
    most = std::min(most, curve_[n] - spent);
  }
  return std::max(most, Duration{0});
}

}  // namespace takt::simulation
