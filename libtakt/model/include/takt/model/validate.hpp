#pragma once

#include <string_view>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"

namespace takt::model {

/// The first reason why a model has no meaning, named by its JSON path in the document `source`:
/// times out of range, curves that contradict themselves, references and trigger relations that
/// cannot be followed. A model that passes can be analysed, simulated and run without further
/// checks; parse() has already called this.
[[nodiscard]] Result<void> validate(const Model& model, std::string_view source);

}  // namespace takt::model
