#pragma once

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// Error: the first option that is out of range or does not fit the model. Tables are checked where
/// they are used.
[[nodiscard]] Result<void> check_options(const model::Model& model, const Options& options);

}  // namespace takt::simulation
