#pragma once

#include <string>
#include <vector>

#include "executor_entities.hpp"
#include "takt/plan/plan.hpp"

namespace takt::rclcpp {

/// The listed callbacks as plans address them.
[[nodiscard]] std::vector<plan::Entity> addresses(const ExecutorEntities& listed);

/// Numbers the listed callbacks as the plan does, and says by what policy they run. `missing`
/// becomes the ids of planned callbacks that are none of those.
[[nodiscard]] scheduling::PolicyDescription follow(const plan::ExecutorPlan& planned,
                                                   ExecutorEntities& listed,
                                                   std::vector<std::string>& missing);

}  // namespace takt::rclcpp
