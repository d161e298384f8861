#include "takt/execution/distribution.hpp"

#include <algorithm>
#include <cmath>

namespace takt::execution {

void Distribution::add(Duration value) {
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += static_cast<double>(value.count());
  if (count_++ % stride_ != 0) {
    return;
  }
  if (kept_.size() == max_kept) {
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) {
      kept_[i] = kept_[2 * i];
    }
    kept_.resize(max_kept / 2);
    stride_ *= 2;
  }
  kept_.push_back(value);
}

Duration Distribution::mean() const {
  return count_ == 0 ? Duration() : Duration(std::llround(sum_ / static_cast<double>(count_)));
}

Duration Distribution::percentile(double rank) const {
  if (kept_.empty()) {
    return {};
  }
  std::vector<Duration> sorted = kept_;
  const auto position = static_cast<std::size_t>(
      std::max(0.0, std::ceil(rank * static_cast<double>(sorted.size())) - 1));
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

std::vector<Duration> Distribution::samples(std::size_t limit) const {
  const std::size_t step = (kept_.size() + limit - 1) / std::max<std::size_t>(limit, 1);
  std::vector<Duration> thinned;
  for (std::size_t i = 0; i < kept_.size(); i += std::max<std::size_t>(step, 1)) {
    thinned.push_back(kept_[i]);
  }
  return thinned;
}

}  // namespace takt::execution
