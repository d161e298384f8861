#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// Takes executors out of a model with their callbacks, with what nothing else activates, and with
/// the edges, joins and chains that these are a part of. `executors`: by index, whether one goes.
/// O(callbacks × (callbacks + edges)) at most.
void take_out(Model& model, const std::vector<bool>& executors);

}  // namespace takt::model
