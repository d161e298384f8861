#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// Whether the callback is activated by messages: it has incoming edges that trigger it and no
/// activation of its own. An edge into any other callback carries data that is sampled, e.g. by a
/// timer, and triggers nothing.
[[nodiscard]] bool is_message_driven(const Callback& callback);

/// The callbacks of every executor, most urgent first, in the order of the default executor
/// (ros-llama S-1.2): event sources, timers, subscriptions, services, clients, other waitables;
/// within a category by registration, and equal registrations in the order of the document.
[[nodiscard]] std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model);

}  // namespace takt::model
