#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::synthesis {

/// At most so many chains are listed, with so many callbacks together; a system with more paths
/// needs a selection.
inline constexpr std::size_t max_chains = 1000;
inline constexpr std::size_t max_chain_callbacks = 10'000;

/// The maximal paths from callbacks with an activation of their own along the edges, also through
/// timers that sample, to callbacks that trigger nothing further, in the order of the model, up
/// to the limits. Named as name_chains() says. Returns whether the model has them all.
[[nodiscard]] bool add_maximal_chains(model::Model& model);

/// Takes over the chains of `from` (id, goal, rank) whose callbacks are in `model`, matched by
/// node, kind and topic or period, and the ids and names of executors that hold the same callbacks.
/// Returns the ids of the chains that were not found.
std::vector<std::string> transfer(const model::Model& from, model::Model& model);

}  // namespace takt::synthesis
