#pragma once

#include <vector>

#include "takt/model/model.hpp"
#include "takt/replay/recording.hpp"

namespace takt::replay {

/// For an executor that chooses before it takes a message: there each input of a join has a place
/// of its own, and a polling point admits one message of each. Gives each entity of the record that
/// shares a model's callback with an earlier one a copy of this callback, which comes right after
/// it. Returns, for each callback of the changed model, the one that it stands for. O(n log n) of
/// the record.
std::vector<model::CallbackIndex> separate_entities(model::Model& model, ExecutorRecord& record);

}  // namespace takt::replay
