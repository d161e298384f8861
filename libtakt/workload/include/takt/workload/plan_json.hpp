#pragma once

#include <string>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/plan.hpp"

namespace takt::workload {

/// One JSON document with all that `takt run` must know before it starts anything: the processes
/// with their executors, and whether this machine can give the reservations what they ask for (GFB
/// test, the kernel's own admission, the privilege). `warnings` are handed on.
[[nodiscard]] std::string plan_to_json(const model::Model& model, const WorkloadPlan& plan,
                                       const std::vector<std::string>& warnings);

}  // namespace takt::workload
