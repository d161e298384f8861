#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// Whether messages to the callback trigger nothing but wait until its own clock or device
/// activates it: an edge into such a callback carries data that is sampled.
[[nodiscard]] bool samples_messages(const Callback& callback);

/// Whether the callback's activations follow from its incoming edges: it is activated by messages
/// and no activation of its own is given.
[[nodiscard]] bool is_message_driven(const Callback& callback);

/// The callbacks of every executor, most urgent first, in the order of the default executor
/// (ros-llama S-1.2): event sources, timers, subscriptions, services, clients, other waitables;
/// within a category by registration, and equal registrations in the order of the document.
[[nodiscard]] std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model);

}  // namespace takt::model
