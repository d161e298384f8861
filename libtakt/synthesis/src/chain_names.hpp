#pragma once

#include "takt/model/model.hpp"

namespace takt::synthesis {

/// Gives a model's chains ids that a person recognises: "first node->last node". Those that begin
/// and end alike are told apart by nodes on the way, as few as will do: "/lidar->/motor via /map".
/// If nodes do not tell them apart, by a number: "#2". O(n² l) for n chains alike of length l.
void name_chains(model::Model& model);

}  // namespace takt::synthesis
