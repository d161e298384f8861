#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "takt/base/window_place.hpp"
#include "takt/model/model.hpp"

namespace takt::model {

/// Whether messages to the callback do not activate it, but wait until its own clock or device
/// does: an edge into such a callback carries data that is sampled. Every message to any other
/// callback activates it or belongs to a set of its join.
[[nodiscard]] bool samples_messages(const Callback& callback);

/// Whether messages along the edge activate its receiver, or belong to a set of its join. Others
/// wait until the receiver takes them, whatever activates it.
[[nodiscard]] bool activates(const Model& model, const Edge& edge);

/// As what an executor of that order runs callbacks of the kind, on a topic or of a service if they
/// have one. Client libraries run the parts of an action, services and topics below its name, as a
/// waitable. rclpy takes a response in the turn of its client, but what waits for it is a task,
/// which runs after the whole ready set: anything may precede it, as a waitable.
[[nodiscard]] CallbackKind run_as(CallbackOrder order, CallbackKind kind, std::string_view topic);

/// The turn of callbacks of the kind among those of other kinds, where the order goes by it.
[[nodiscard]] std::uint32_t category_rank(CallbackKind kind);

/// For each callback its place in the ready sets of its executor, by the executor's order: all that
/// the analyses may take for granted of it.
[[nodiscard]] std::vector<WindowPlace> window_places(const Model& model);

/// The callbacks of every executor in one of the orders that their places allow. What the places
/// leave open is decided as Takt's executors do (ros-llama S-1.2): event sources, timers,
/// subscriptions, services, clients, other waitables; within a category by registration, and equal
/// registrations in the order of the document.
[[nodiscard]] std::vector<std::vector<CallbackIndex>> callbacks_by_executor(const Model& model);

/// Gives each callback its place in that order as its registration, so that a copy which is added
/// at the end of the document comes right after its original.
void number_registrations(Model& model);

}  // namespace takt::model
