#include "features_of.hpp"

#include <algorithm>
#include <map>

#include "takt/model/names.hpp"
#include "takt/model/order.hpp"

namespace takt::generation {

namespace {

using model::CallbackIndex;
using model::Model;

class Collector {
 public:
  Collector(const Model& model, model::ExecutorIndex executor)
      : model_(model), executor_(executor) {}

  std::set<std::string> features() {
    add_executor(model_[executor_]);
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      if (here(CallbackIndex{i})) add_callback(CallbackIndex{i});
    }
    for (const model::Edge& edge : model_.edges) {
      if (here(edge.to) || here(edge.from)) add_edge(edge);
    }
    for (const model::Join& join : model_.joins) {
      if (here(join.callback)) add_join(join);
    }
    add_chains();
    return std::move(features_);
  }

 private:
  [[nodiscard]] bool here(CallbackIndex callback) const {
    return model_[callback].executor == executor_;
  }
  void add(std::string name) { features_.insert(std::move(name)); }
  void add_if(bool condition, std::string name) {
    if (condition) add(std::move(name));
  }

  void add_executor(const model::Executor& executor) {
    add("kind: " + std::string(model::to_string(executor.kind)));
    add_if(executor.timers == TimerHandling::privileged, "timers: privileged");
    add_if(executor.threads > 1, "threads");
    add_if(executor.cpu.has_value(), "cpu");
    const auto shares = [&](const model::Executor& other) {
      return &other != &executor && other.cpu && other.cpu == executor.cpu;
    };
    add_if(std::ranges::any_of(model_.executors, shares), "cpu: shared");
    if (const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply)) {
      add("supply: reservation");
      add_if(reservation->deadline < reservation->period, "supply: early deadline");
    }
    add_if(std::holds_alternative<model::SlotSupply>(executor.supply), "supply: slots");
    add_if(std::holds_alternative<model::FixedPrioritySupply>(executor.supply),
           "supply: fixed priority");
    add_if(!executor.overhead.empty(), "overhead");
    add_if(executor.release_overhead > Duration{0}, "release_overhead");
    add_if(executor.table.has_value(), "table");
    add_if(executor.process.has_value(), "process");
    add_if(!executor.unknown.empty(), "unknown field");
  }

  void add_callback(CallbackIndex index) {
    const model::Callback& callback = model_[index];
    add("callback: " + std::string(model::to_string(callback.kind)));
    add_if(callback.execution_time.size() > 1, "execution_time: curve");
    const auto into = [&](const model::Edge& edge) { return edge.to == index; };
    const bool receives = std::ranges::any_of(model_.edges, into);
    const bool samples = model::samples_messages(callback);
    add_if(receives && samples, "sampling");
    add_if(receives && !samples && callback.activation, "own activation beside edges");
    if (callback.activation) add_activation(*callback.activation);
    add_if(callback.priority.has_value(), "priority");
    add_if(callback.deadline.has_value(), "deadline");
    add_if(callback.queue_depth.has_value(), "queue_depth");
    add_if(callback.callback_group == "reentrant", "callback_group: reentrant");
    add_if(callback.callback_group && callback.callback_group != "reentrant", "callback_group");
  }

  void add_activation(const model::Activation& activation) {
    if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
      add("activation: periodic");
      add_if(periodic->jitter > Duration{0}, "activation: jitter");
    } else if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
      add("activation: sporadic");
      add_if(sporadic->jitter > Duration{0}, "activation: jitter");
    } else {
      add("activation: min_distance");
    }
  }

  void add_edge(const model::Edge& edge) {
    const bool local = here(edge.to) && here(edge.from);
    add(local ? "edge: local" : "edge: remote");
    add_if(edge.delay > Duration{0}, local ? "delay: local" : "delay: remote");
    add_if(edge.from >= edge.to && !model::samples_messages(model_[edge.to]), "edge: cycle");
    add_if(edge.message_size > 0, "message_size");
    if (edge.triggered_by) {
      add(edge.triggered_by->empty() ? "triggered_by: nothing" : "triggered_by");
    }
    const auto twin = [&](const model::Edge& other) {
      return &other != &edge && other.from == edge.from && other.to == edge.to;
    };
    add_if(std::ranges::any_of(model_.edges, twin), "edge: parallel");
  }

  void add_join(const model::Join& join) {
    add("join: " + std::string(model::to_string(join.kind)));
    const auto beside = [&](const model::Edge& edge) {
      return edge.to == join.callback && std::ranges::count(join.inputs, edge.from) == 0;
    };
    add_if(std::ranges::any_of(model_.edges, beside), "join: of some senders");
  }

  void add_chains() {
    std::map<CallbackIndex, int> chains_through;
    for (const model::Chain& chain : model_.chains) {
      const std::set<CallbackIndex> members(chain.callbacks.begin(), chain.callbacks.end());
      if (std::ranges::none_of(members, [&](CallbackIndex c) { return here(c); })) continue;
      add("chain");
      add_if(members.size() < chain.callbacks.size(), "chain: cyclic");
      add_if(chain.goal.has_value(), "goal");
      add_if(chain.rank.has_value(), "rank");
      for (const CallbackIndex member : members) {
        if (here(member)) ++chains_through[member];
      }
    }
    add_if(std::ranges::any_of(chains_through, [](const auto& entry) { return entry.second > 1; }),
           "chain: shares callbacks");
  }

  const Model& model_;
  model::ExecutorIndex executor_;
  std::set<std::string> features_;
};

}  // namespace

std::set<std::string> features_of(const Model& model, model::ExecutorIndex executor) {
  return Collector(model, executor).features();
}

}  // namespace takt::generation
