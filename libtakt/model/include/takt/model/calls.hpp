#pragma once

#include <span>

#include "takt/model/model.hpp"

namespace takt::model {

/// Whether a path may go on to `next`. A path that leads into a service and out of it as a response
/// returns to the node that sent the request, calls within calls included: a service that several
/// nodes call is on paths of each, and on none from one caller to another's response (performance-
/// engineering 2.6, 2.9). Anything but a client may always be next. O(path).
[[nodiscard]] bool returns_to_its_caller(const Model& model, std::span<const CallbackIndex> path,
                                         CallbackIndex next);

}  // namespace takt::model
