#include "suspensions.hpp"

#include <algorithm>

namespace takt::simulation {

Suspensions::Suspensions(const model::Suspension& suspension, ExecutionModel model, double shortest,
                         std::uint64_t seed, std::size_t callback)
    : times_(suspension.times),
      model_(model),
      lengths_(suspension.curve, model, shortest, Random(seed, Stream::suspension, 2 * callback)),
      random_(seed, Stream::suspension, 2 * callback + 1) {}

void Suspensions::next(Duration time, std::vector<Pause>& pauses) {
  pauses.clear();
  const Duration length = lengths_.next();
  // Each takes time, and the instance runs before each and after the last.
  std::int64_t most =
      std::min({times_, length.count(), std::max<std::int64_t>(1, time.count() - 1)});
  if (most > 1 && model_ == ExecutionModel::random) {
    most = random_.between(Duration{1}, Duration{most}).count();
  }
  const auto count = static_cast<std::size_t>(most);
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
