#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "random.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// The costs of one callback's consecutive instances, or of one executor's overheads: any n in a
/// row cost at most curve[n - 1].
class ExecutionTimes {
 public:
  /// `curve`: ET(1), ET(2), …, sub-additive; empty: no cost.
  ExecutionTimes(std::vector<Duration> curve, ExecutionModel model, double shortest, Random random);

  /// Costs one by one, repeated from the first.
  explicit ExecutionTimes(std::vector<Duration> list);

  /// The cost of the next instance, at most `limit`. O(curve's length).
  Duration next(Duration limit = Duration::max());

  /// The greatest cost that the next instance may have by the curve. O(curve's length).
  [[nodiscard]] Duration allowed() const;

 private:
  std::vector<Duration> curve_;
  std::vector<Duration> list_;
  ExecutionModel model_ = ExecutionModel::worst_case;
  Duration least_{};
  Random random_;
  /// Ring of the last costs, as many as the curve has values, and where the next goes.
  std::vector<Duration> recent_;
  std::size_t position_ = 0;
};

}  // namespace takt::simulation
