#include "suspensions.hpp"

#include <algorithm>

#include "takt/curves/execution_time_curve.hpp"

namespace takt::simulation {

Suspensions::Suspensions(const model::Suspension& suspension, ExecutionModel model, double shortest,
                         std::uint64_t seed, std::size_t callback)
    : lengths_(suspension.curve, model, shortest, Random(seed, Stream::suspension, 3 * callback)),
      times_(curves::as_costs(suspension.times_curve()), model, 0,
             Random(seed, Stream::suspension, 3 * callback + 1)),
      random_(seed, Stream::suspension, 3 * callback + 2) {}

void Suspensions::next(Duration time, std::vector<Pause>& pauses) {
  pauses.clear();
  const bool may_suspend = times_.allowed() > Duration{0};
  const Duration length = lengths_.next(may_suspend ? Duration::max() : Duration{0});
  // Each takes time, and the instance runs before each and after the last.
  const Duration most = std::min(length, std::max(epsilon, time - epsilon));
  const auto count = static_cast<std::size_t>(times_.next(most).count());
  starts_.resize(count);
  ends_.resize(count);
  cut(time, starts_);
  cut(length, ends_);
  if (count > 0) ends_.back() = length;
  for (std::size_t i = count; i-- > 0;) {
    const Duration before = i > 0 ? starts_[i - 1] : Duration{0};
    const Duration begin = i > 0 ? ends_[i - 1] : Duration{0};
    pauses.push_back({.after = starts_[i] - before, .length = ends_[i] - begin});
  }
}

void Suspensions::cut(Duration whole, std::vector<Duration>& points) {
  for (Duration& point : points) point = random_.between(Duration{0}, whole);
  std::ranges::sort(points);
}

}  // namespace takt::simulation
