#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "takt/shaping/placement.hpp"

namespace takt::shaping {

/// Slot placement in numbers of the grid: what both solvers minimise. Slots start at positions 0 …
/// last, the last one at the last.
class Problem {
 public:
  [[nodiscard]] static Result<Problem> make(const Profile& profile,
                                            const PlacementOptions& options);

  [[nodiscard]] std::size_t last() const { return share_.size() - 1; }
  [[nodiscard]] std::size_t bands() const { return options_.bands; }
  /// Between the starts of successive slots, in positions.
  [[nodiscard]] std::size_t least_distance() const { return least_distance_; }
  [[nodiscard]] std::size_t greatest_distance() const { return greatest_distance_; }

  /// What a slot at `position` costs if the one before it is at `before`.
  [[nodiscard]] double cost(std::size_t before, std::size_t position) const {
    return (share_[position] - share_[before]) * value(position);
  }
  [[nodiscard]] double cost_of_first(std::size_t position) const {
    return (share_[position] - options_.tail) * value(position);
  }
  /// The placement with slots at these positions, ascending.
  [[nodiscard]] Placement placement(std::span<const std::size_t> positions) const;

 private:
  Problem(const Profile& profile, const PlacementOptions& options, Duration first,
          std::size_t count);

  [[nodiscard]] Duration start(std::size_t position) const {
    return first_ + options_.grid * static_cast<std::int64_t>(position);
  }
  [[nodiscard]] Duration latency(std::size_t position) const {
    return start(position) + options_.publish_time.value_or(options_.slot_length);
  }
  [[nodiscard]] double value(std::size_t position) const {
    return static_cast<double>(latency(position).count());
  }

  const Profile& profile_;
  const PlacementOptions& options_;
  Duration first_;
  std::size_t least_distance_ = 0;
  std::size_t greatest_distance_ = 0;
  /// By position: the share of outputs that are ready in time for a slot there, adjusted to tail
  /// and confidence.
  std::vector<double> share_;
};

}  // namespace takt::shaping
