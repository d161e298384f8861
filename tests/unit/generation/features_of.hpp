#pragma once

#include <set>
#include <string>

#include "takt/model/model.hpp"

namespace takt::generation {

/// What of the format an executor uses: its own fields, those of its callbacks, of the edges to and
/// from them, and of their joins and chains. The names are "field: value", e.g. "join: newest".
[[nodiscard]] std::set<std::string> features_of(const model::Model& model,
                                                model::ExecutorIndex executor);

}  // namespace takt::generation
