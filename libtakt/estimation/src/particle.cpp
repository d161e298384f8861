#include "takt/estimation/particle.hpp"

namespace takt::estimation {

double weighted_percentile(const double* values, Eigen::Index stride, const double* weights,
                           std::vector<std::uint32_t>& order, double share) {
  std::iota(order.begin(), order.end(), 0U);
  const auto value = [&](std::uint32_t i) { return values[static_cast<Eigen::Index>(i) * stride]; };
  auto first = order.begin();
  auto last = order.end();
  double below = 0;  // the weight of all that is before `first`
  while (last - first > 1) {
    const auto middle = first + (last - first) / 2;
    std::nth_element(first, middle, last,
                     [&](std::uint32_t a, std::uint32_t b) { return value(a) < value(b); });
    double left = below;
    for (auto each = first; each != middle; ++each) left += weights[*each];
    if (left >= share) {
      last = middle;
    } else {
      first = middle;
      below = left;
    }
  }
  return value(*first);
}

namespace {

/// Chooses old particles by evenly spaced points of the cumulative weight, each moved by
/// `offset()`.
template <typename Offset>
void draw_evenly(const Eigen::VectorXd& weights, double total, std::vector<std::uint32_t>& parents,
                 std::size_t begin, Offset offset) {
  const std::size_t count = parents.size() - begin;
  const double share = total / static_cast<double>(count);
  std::uint32_t parent = 0;
  double cumulative = weights(0);
  for (std::size_t i = 0; i < count; ++i) {
    const double point = (static_cast<double>(i) + offset()) * share;
    while (cumulative <= point && parent + 1 < static_cast<std::uint32_t>(weights.size())) {
      cumulative += weights(++parent);
    }
    parents[begin + i] = parent;
  }
}

}  // namespace

void resample(Resampling method, const Eigen::VectorXd& weights,
              std::vector<std::uint32_t>& parents, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform;
  if (method == Resampling::systematic) {
    const double offset = uniform(random);
    draw_evenly(weights, 1, parents, 0, [&] { return offset; });
    return;
  }
  if (method == Resampling::stratified) {
    draw_evenly(weights, 1, parents, 0, [&] { return uniform(random); });
    return;
  }
  // Residual: each particle is repeated as often as the whole part of its expected number says; the
  // rest is drawn by the fractions.
  const auto count = static_cast<double>(parents.size());
  std::size_t placed = 0;
  double left = 0;
  for (Eigen::Index i = 0; i < weights.size(); ++i) {
    const double expected = weights(i) * count;
    const double whole = std::floor(expected);
    for (std::size_t n = 0; static_cast<double>(n) < whole && placed < parents.size(); ++n) {
      parents[placed++] = static_cast<std::uint32_t>(i);
    }
    left += expected - whole;
  }
  const std::size_t certain = placed;
  const double share =
      left / static_cast<double>(std::max<std::size_t>(1, parents.size() - certain));
  std::uint32_t parent = 0;
  const auto rest = [&](std::uint32_t i) {
    const double expected = weights(i) * count;
    return expected - std::floor(expected);
  };
  double cumulative = rest(0);
  while (placed < parents.size()) {
    const double point = (static_cast<double>(placed - certain) + uniform(random)) * share;
    while (cumulative <= point && parent + 1 < static_cast<std::uint32_t>(weights.size())) {
      cumulative += rest(++parent);
    }
    parents[placed++] = parent;
  }
}

}  // namespace takt::estimation
