#pragma once

#include <optional>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"

namespace takt::merging {

/// An activation that admits whatever either admits. Fails for activations that are less than 1 ns
/// apart in the long run.
[[nodiscard]] Result<std::optional<model::Activation>> merged_activation(
    const std::optional<model::Activation>& one, const std::optional<model::Activation>& other);

}  // namespace takt::merging
