#pragma once

#include <functional>

#include "choices.hpp"
#include "takt/model/model.hpp"

namespace takt::brute_force {

/// A smaller valid model for which `fails` still holds: callbacks, executors, edges, joins, chains,
/// overheads, jitter, reservations and long execution times are left out one after the other, as
/// long as any can be.
[[nodiscard]] model::Model shrink(model::Model model,
                                  const std::function<bool(const model::Model&)>& fails);

/// Fewer and lesser choices for which `fails` still holds.
[[nodiscard]] Choices shrink(Choices choices, const std::function<bool(Choices&)>& fails);

}  // namespace takt::brute_force
