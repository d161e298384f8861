#pragma once

#include "cheapest_change.hpp"
#include "takt/budget/own_executor.hpp"

namespace takt::budget {

/// The same within what is left to spend: then some may be missing.
[[nodiscard]] std::vector<OwnExecutor> own_executors(const model::Model& model, std::size_t chain,
                                                     analysis::Options options, Spending& spending);

}  // namespace takt::budget
