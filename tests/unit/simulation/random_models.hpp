#pragma once

#include <functional>
#include <random>
#include <span>

#include "takt/model/model.hpp"

namespace takt::simulation {

/// A small valid model with times of a few nanoseconds to a few hundred, so that ends and
/// beginnings often coincide: timers, event sources, subscriptions, services, clients, waitables;
/// bursts and jitter; edges with delays and trigger sets; joins; data that timers sample;
/// reservations; execution-time and overhead curves; chains. Its executors are of the given kinds.
[[nodiscard]] model::Model random_model(std::mt19937& random,
                                        std::span<const model::ExecutorKind> kinds);

/// The smallest model found by leaving things out and making numbers smaller for which `fails`
/// still holds. `fails` sees valid models only.
[[nodiscard]] model::Model shrink(model::Model model,
                                  const std::function<bool(const model::Model&)>& fails);

}  // namespace takt::simulation
