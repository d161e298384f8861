#pragma once

#include <string>
#include <vector>

#include "roster.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

/// The roster's callbacks as plans address them.
[[nodiscard]] std::vector<plan::Entity> addresses(const Roster& roster);

/// Numbers the roster's callbacks as the plan does, and says by what policy they run. `missing`
/// becomes the ids of planned callbacks that are none of the roster's.
[[nodiscard]] scheduling::PolicyDescription follow(const plan::ExecutorPlan& planned,
                                                   Roster& roster,
                                                   std::vector<std::string>& missing);

}  // namespace takt::rclcpp
