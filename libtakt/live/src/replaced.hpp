#pragma once

#include <functional>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::live {

using HasEnded = std::function<bool(events::ProcessIndex)>;

/// By executor, whether its program has ended, and one that runs or came later has a node of the
/// same name: it was started again.
[[nodiscard]] std::vector<bool> replaced(const std::vector<execution::Executor>& executors,
                                         const execution::Objects& objects,
                                         const HasEnded& has_ended);

/// Takes executors that were replaced out of a model, with what is like them in `executors`, which
/// has the model's order. What has taken their place gets their ids, as far as it can be told apart
/// without a number: people and plans know it by them.
void take_out_replaced(model::Model& model, std::vector<execution::Executor>& executors,
                       const std::vector<bool>& replaced, const execution::Objects& objects);

}  // namespace takt::live
