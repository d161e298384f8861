#pragma once

#include <string>

#include "takt/model/model.hpp"

namespace takt::model {

/// The first time, integer or list of a model that is out of the range that its description gives
/// (description.hpp): "path: what is wrong". Empty if there is none.
[[nodiscard]] std::string first_out_of_range(const Model& model);

}  // namespace takt::model
