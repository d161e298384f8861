#pragma once

#include <span>

#include "takt/model/model.hpp"

namespace takt::model {

/// Whether a path may continue with `next`. A path that enters a service and leaves it along a
/// response must return to the node that sent the request, also in nested calls. So a service that
/// several nodes call is on paths of each of them, and on no path from one caller to another's
/// response (performance-engineering 2.6, 2.9). Any callback but a client may always be next.
/// O(path).
[[nodiscard]] bool returns_to_its_caller(const Model& model, std::span<const CallbackIndex> path,
                                         CallbackIndex next);

}  // namespace takt::model
