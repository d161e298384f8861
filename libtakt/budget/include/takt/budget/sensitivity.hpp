#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// How far a model is from missing a goal, one change at a time.
struct Sensitivity {
  struct Callback {
    std::string id;
    /// The most by which every instance may run longer; at most the analysis horizon.
    Duration growth{};
  };
  struct Executor {
    std::string id;
    Duration budget{};
    /// The smallest budget in the same period.
    Duration smallest_budget{};
  };
  std::string analysis;
  std::string model;
  /// Whether the model as it is meets its goals. If not, the lists are empty.
  bool met = false;
  std::vector<Callback> callbacks;
  /// The executors on reservations.
  std::vector<Executor> executors;

  /// The `takt/sensitivity` version 1 document.
  [[nodiscard]] std::string to_json() const;
};

/// The sensitivity of a valid model. Every chain with a goal must meet it or, if there are no
/// goals, every callback must have a bound. Bounds grow with execution times and shrink with
/// budgets (ros-llama fact 23), so each answer is found by bisection, to the nanosecond: O(log
/// horizon) analyses per callback and executor.
[[nodiscard]] Sensitivity sensitivity(const model::Model& model,
                                      const analysis::Options& options = {});

}  // namespace takt::budget
