#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

inline Activation every(Duration period) {
  return PeriodicActivation{.period = period, .jitter = Duration{0}};
}

/// `burst` activations at once, at least `separation` from burst to burst.
inline Activation bursts(std::size_t burst, Duration separation) {
  MinDistanceActivation distances;
  distances.values.assign(burst, Duration{0});
  distances.values.push_back(separation);
  return distances;
}

/// Models in a few lines. Callbacks register in the order in which they are added.
class ModelBuilder {
 public:
  ExecutorIndex executor(Supply supply = DedicatedSupply{},
                         ExecutorKind kind = ExecutorKind::single_threaded) {
    Executor& executor = model_.executors.emplace_back();
    executor.id = "e" + std::to_string(model_.executors.size() - 1);
    executor.supply = supply;
    executor.kind = kind;
    executor.order = CallbackOrder::registered;
    return ExecutorIndex{model_.executors.size() - 1};
  }

  CallbackIndex callback(ExecutorIndex executor, CallbackKind kind, std::vector<Duration> curve,
                         std::optional<Activation> activation = std::nullopt) {
    Callback& callback = model_.callbacks.emplace_back();
    callback.id = "c" + std::to_string(model_.callbacks.size() - 1);
    callback.executor = executor;
    callback.kind = kind;
    callback.registration = static_cast<std::int64_t>(model_.callbacks.size()) - 1;
    callback.execution_time = std::move(curve);
    callback.activation = std::move(activation);
    return CallbackIndex{model_.callbacks.size() - 1};
  }

  CallbackIndex timer(ExecutorIndex executor, Duration wcet, Activation activation) {
    return callback(executor, CallbackKind::timer, {wcet}, std::move(activation));
  }

  CallbackIndex subscription(ExecutorIndex executor, Duration wcet,
                             std::optional<Activation> activation = std::nullopt) {
    return callback(executor, CallbackKind::subscription, {wcet}, std::move(activation));
  }

  /// On an executor of its own.
  CallbackIndex event_source(Duration wcet, Activation activation) {
    return callback(executor(DedicatedSupply{}, ExecutorKind::event_source),
                    CallbackKind::event_source, {wcet}, std::move(activation));
  }

  Edge& edge(CallbackIndex from, CallbackIndex to, Duration delay = Duration{0}) {
    Edge& edge = model_.edges.emplace_back();
    edge.from = from;
    edge.to = to;
    edge.delay = delay;
    return edge;
  }

  void join(CallbackIndex callback, JoinKind kind, std::vector<CallbackIndex> inputs) {
    model_.joins.push_back(
        {.callback = callback, .kind = kind, .inputs = std::move(inputs), .unknown = {}});
  }

  /// A chain, with the edges along it if they do not exist.
  void chain(std::vector<CallbackIndex> callbacks, std::optional<Duration> goal = std::nullopt) {
    for (std::size_t i = 1; i < callbacks.size(); ++i) {
      bool exists = false;
      for (const Edge& e : model_.edges) {
        exists = exists || (e.from == callbacks[i - 1] && e.to == callbacks[i]);
      }
      if (!exists) edge(callbacks[i - 1], callbacks[i]);
    }
    Chain& chain = model_.chains.emplace_back();
    chain.id = "chain" + std::to_string(model_.chains.size() - 1);
    chain.callbacks = std::move(callbacks);
    chain.goal = goal;
  }

  [[nodiscard]] Model& model() { return model_; }

 private:
  Model model_;
};

}  // namespace takt::model
