#pragma once

#include "roster.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

/// Numbers the roster's callbacks as the plan does, and says by what policy they run.
[[nodiscard]] scheduling::PolicyDescription follow(const plan::ExecutorPlan& planned,
                                                   Roster& roster);

}  // namespace takt::rclcpp
