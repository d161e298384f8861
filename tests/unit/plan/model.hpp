#pragma once

#include "takt/model/model.hpp"

namespace takt::plan {

/// A camera's timer, a filter on its topic and a logger on the same topic, on one executor; the
/// filter's chain has a goal.
inline model::Model camera_model() {
  using model::CallbackIndex;
  using model::CallbackKind;
  model::Model model;
  model.name = "camera";
  model::Executor& executor = model.executors.emplace_back();
  executor.id = "main";
  executor.kind = model::ExecutorKind::edf;
  executor.order = model::CallbackOrder::registered;
  const auto add = [&](std::string id, CallbackKind kind) {
    model::Callback callback;
    callback.id = std::move(id);
    callback.node = "/robot";
    callback.kind = kind;
    callback.registration = static_cast<std::int64_t>(model.callbacks.size());
    callback.execution_time = {std::chrono::milliseconds(1)};
    model.callbacks.push_back(callback);
  };
  add("camera", CallbackKind::timer);
  add("filter", CallbackKind::subscription);
  add("log", CallbackKind::subscription);
  model.callbacks[0].activation =
      model::PeriodicActivation{.period = std::chrono::milliseconds(50)};
  model.callbacks[0].deadline = std::chrono::milliseconds(40);
  for (const std::size_t to : {1U, 2U}) {
    model::Edge& edge = model.edges.emplace_back();
    edge.from = CallbackIndex(0);
    edge.to = CallbackIndex(to);
    edge.topic = "image";
  }
  model::Chain& chain = model.chains.emplace_back();
  chain.id = "pilot";
  chain.callbacks = {CallbackIndex(0), CallbackIndex(1)};
  return model;
}

}  // namespace takt::plan
