#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// Whether messages to the callback do not activate it, but wait until its own clock or device
/// does: an edge into such a callback carries data that is sampled. Every message to any other
/// callback activates it or belongs to a set of its join.
[[nodiscard]] bool samples_messages(const Callback& callback);

/// The callbacks of every executor, most urgent first, in the order of the default executor
/// (ros-llama S-1.2): event sources, timers, subscriptions, services, clients, other waitables;
/// within a category by registration, and equal registrations in the order of the document.
[[nodiscard]] std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model);

/// Gives each callback its place in that order as its registration, so that a copy which is added
/// at the end of the document comes right after its original.
void number_registrations(Model& model);

}  // namespace takt::model
