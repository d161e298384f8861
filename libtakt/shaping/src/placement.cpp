#include "takt/shaping/placement.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "problem.hpp"

namespace takt::shaping {

namespace {

/// The cost of what cannot be.
constexpr double infinite = std::numeric_limits<double>::infinity();

/// The rows of the dynamic program, one for each band but the last.
class Rows {
 public:
  explicit Rows(const Problem& problem)
      : problem_(problem), best_(problem.last() + 1), next_(problem.last() + 1) {
    for (std::size_t j = 0; j <= problem.last(); ++j) best_[j] = problem.cost_of_first(j);
  }

  /// Adds a band. Positions before `band` · least distance cannot be reached; all positions from
  /// there on can (the reachable positions of a band are an interval).
  void add_band() {
    ++bands_;
    const std::size_t first = bands_ * problem_.least_distance();
    std::ranges::fill(next_, infinite);
    choices_.emplace_back(problem_.last() + 1);
    if (first <= problem_.last()) {
      fill(first, problem_.last(), first - problem_.least_distance(), problem_.last());
    }
    best_.swap(next_);
  }

  /// The best way to have one more band, at `position`: where the band before is.
  [[nodiscard]] std::size_t predecessor(std::size_t position) const {
    return choose(position, bands_ * problem_.least_distance(), position).first;
  }

  /// The positions of the slots, if that of the last row is `position`.
  [[nodiscard]] std::vector<std::size_t> trace_back(std::size_t position) const {
    std::vector<std::size_t> found{position};
    for (auto row = choices_.rbegin(); row != choices_.rend(); ++row) {
      found.push_back((*row)[found.back()]);
    }
    std::ranges::reverse(found);
    return found;
  }

 private:
  /// The leftmost best predecessor of a slot at `position` among `low` … `high`, and its cost.
  [[nodiscard]] std::pair<std::size_t, double> choose(std::size_t position, std::size_t low,
                                                      std::size_t high) const {
    const std::size_t greatest = problem_.greatest_distance();
    low = std::max(low, position > greatest ? position - greatest : 0);
    high = std::min(high, position - problem_.least_distance());
    std::pair<std::size_t, double> found{low, infinite};
    for (std::size_t i = low; i <= high; ++i) {
      const double cost = best_[i] + problem_.cost(i, position);
      if (cost < found.second) found = {i, cost};
    }
    return found;
  }

  /// Positions first … last, whose best predecessors are among low … high.
  void fill(std::size_t first, std::size_t last, std::size_t low, std::size_t high) {
    const std::size_t middle = first + (last - first) / 2;
    const auto [predecessor, cost] = choose(middle, low, high);
    next_[middle] = cost;
    choices_.back()[middle] = static_cast<std::uint32_t>(predecessor);
    if (middle > first) fill(first, middle - 1, low, predecessor);
    if (middle < last) fill(middle + 1, last, predecessor, high);
  }

  const Problem& problem_;
  std::vector<double> best_;
  std::vector<double> next_;
  std::vector<std::vector<std::uint32_t>> choices_;
  std::size_t bands_ = 0;
};

}  // namespace

Result<Placement> place(const Profile& profile, const PlacementOptions& options) {
  const Result<Problem> problem = Problem::make(profile, options);
  if (!problem) return tl::unexpected(problem.error());
  const std::size_t last = problem->last();
  if (problem->bands() == 1) return problem->placement(std::vector<std::size_t>{last});
  Rows rows(*problem);
  for (std::size_t band = 2; band < problem->bands(); ++band) rows.add_band();
  std::vector<std::size_t> positions = rows.trace_back(rows.predecessor(last));
  positions.push_back(last);
  return problem->placement(positions);
}

std::optional<Duration> departure(std::span<const Band> bands, Duration ready,
                                  Duration publish_time) {
  const auto meets = [&](const Band& band) { return ready <= band.slot.end - publish_time; };
  const auto band = std::ranges::find_if(bands, meets);
  if (band == bands.end()) return std::nullopt;
  return std::max(band->slot.start, ready) + publish_time;
}

}  // namespace takt::shaping
