#pragma once

#include <string>
#include <vector>

#include "roster.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

/// Numbers the roster's callbacks as the plan does, and says by what policy they run. Adds the ids
/// of planned callbacks that are none of the roster's to `missing`.
[[nodiscard]] scheduling::PolicyDescription follow(const plan::ExecutorPlan& planned,
                                                   Roster& roster,
                                                   std::vector<std::string>& missing);

}  // namespace takt::rclcpp
