#pragma once

#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"

namespace takt::synthesis {

/// The kind that stands for an observed one in models.
[[nodiscard]] model::CallbackKind kind_of(execution::CallbackKind kind);

}  // namespace takt::synthesis
