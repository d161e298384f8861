#pragma once

#include "takt/model/model.hpp"

namespace takt::generation {

/// Activations for each nanosecond in the long run.
[[nodiscard]] double rate(const model::Activation& activation);

/// The part of a processor that a supply gives in the long run: 1 for all but reservations and
/// slots.
[[nodiscard]] double bandwidth(const model::Supply& supply);

}  // namespace takt::generation
