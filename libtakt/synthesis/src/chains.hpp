#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::synthesis {

/// Most chains that are listed; systems with more paths than that need a selection.
inline constexpr std::size_t max_chains = 1000;

/// The maximal paths from callbacks with an activation of their own along the edges to callbacks
/// that trigger nothing further, in the order of the model, at most max_chains. Ids are
/// "first node->last node", unique by a suffix "#2" ….
void add_maximal_chains(model::Model& model);

/// Takes over the chains of `from` (id, goal, rank) whose callbacks are in `model`, matched by
/// node, kind and topic or period, and the ids and names of executors that hold the same callbacks.
/// Returns the ids of the chains that were not found.
std::vector<std::string> transfer(const model::Model& from, model::Model& model);

}  // namespace takt::synthesis
