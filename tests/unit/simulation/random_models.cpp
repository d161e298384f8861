#include "random_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "takt/model/validate.hpp"

namespace takt::simulation {

using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorIndex;
using model::ExecutorKind;
using model::Model;

namespace {

bool has_releaser(ExecutorKind kind) {
  constexpr std::array kinds = {ExecutorKind::events, ExecutorKind::fixed_priority,
                                ExecutorKind::chain_priority, ExecutorKind::edf,
                                ExecutorKind::graph_aware};
  return std::ranges::count(kinds, kind) > 0;
}

class Generator {
 public:
  Generator(std::mt19937& random, std::span<const ExecutorKind> kinds)
      : random_(random), kinds_(kinds) {}

  Model generate() {
    const int executors = draw(1, 3);
    for (int i = 0; i < executors; ++i) add_executor(kinds_[pick(kinds_.size())]);
    if (one_in(3)) add_executor(ExecutorKind::event_source);
    for (std::size_t i = 0; i < model_.executors.size(); ++i) add_sources(ExecutorIndex(i));
    const int subscribers = draw(0, 7);
    for (int i = 0; i < subscribers; ++i) add_subscriber(static_cast<std::size_t>(executors));
    if (one_in(4)) add_sampling();
    add_tables();
    const int chains = draw(0, 3);
    for (int i = 0; i < chains; ++i) add_chain();
    return std::move(model_);
  }

 private:
  int draw(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool one_in(int n) { return draw(1, n) == 1; }
  std::size_t pick(std::size_t size) {
    return std::uniform_int_distribution<std::size_t>(0, size - 1)(random_);
  }

  void add_executor(ExecutorKind kind) {
    model::Executor& executor = model_.executors.emplace_back();
    executor.id = fmt::format("e{}", model_.executors.size() - 1);
    executor.kind = kind;
    if (one_in(5)) executor.timers = model::TimerHandling::privileged;
    if (one_in(2)) {
      const int period = draw(1, 12);
      const int budget = draw((period + 1) / 2, period);
      executor.supply = model::ReservationSupply{Duration(budget), Duration(period),
                                                 Duration(draw(budget, period))};
    }
    if (one_in(6)) executor.supply = slot_supply();
    if (one_in(5)) executor.overhead = costs(2);
    if (kind == ExecutorKind::multi_threaded) executor.threads = draw(1, 3);
    if (has_releaser(kind) && one_in(3)) executor.release_overhead = Duration(draw(1, 2));
  }

  /// One to three slots with gaps between that are at most half of the cycle in all.
  model::SlotSupply slot_supply() {
    model::SlotSupply table;
    int time = 0;
    for (int i = draw(1, 3); i > 0; --i) {
      const int start = time + draw(0, 4);
      time = start + draw(4, 8);
      table.slots.push_back({Duration(start), Duration(time)});
    }
    table.cycle = Duration(time + draw(0, 2));
    return table;
  }

  /// Tables in which every callback has a slot or two.
  void add_tables() {
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      if (model_.executors[e].kind != ExecutorKind::table_driven) continue;
      model::SlotTable table;
      int time = 0;
      for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
        if (model_.callbacks[c].executor != ExecutorIndex(e)) continue;
        for (int i = one_in(4) ? 2 : 1; i > 0; --i) {
          const int start = time + draw(0, 3);
          time = start + draw(1, 9);
          table.entries.push_back(
              {.slot = {Duration(start), Duration(time)}, .callback = CallbackIndex(c)});
        }
      }
      if (table.entries.empty()) continue;
      std::vector<CallbackIndex> order;
      for (const auto& entry : table.entries) order.push_back(entry.callback);
      std::ranges::shuffle(order, random_);
      for (std::size_t i = 0; i < order.size(); ++i) table.entries[i].callback = order[i];
      table.cycle = Duration(time + draw(0, 3));
      model_.executors[e].table = std::move(table);
      if (!one_in(4)) model_.executors[e].supply = model::DedicatedSupply{};
    }
  }

  /// ET(1), ET(2), …: increments that never grow are sub-additive. No instance is for free: the
  /// jitter R - ε of the analyses (ros-llama Def. 1) counts on it.
  std::vector<Duration> costs(int longest) {
    std::vector<Duration> curve;
    int cost = draw(1, longest);
    int total = 0;
    const int length = one_in(3) ? draw(2, 4) : 1;
    for (int i = 0; i < length; ++i) {
      curve.emplace_back(total += cost);
      cost = draw(1, cost);
    }
    return curve;
  }

  model::Activation activation() {
    constexpr std::array periods = {20, 25, 30, 40, 50, 60, 80, 100, 150};
    const Duration period(periods[pick(periods.size())]);
    const Duration jitter(one_in(3) ? draw(0, 2 * static_cast<int>(period.count())) : 0);
    switch (draw(0, 5)) {
      case 0:
        return model::SporadicActivation{period, jitter};
      case 1: {
        // Distances that never shrink are super-additive.
        model::MinDistanceActivation pattern{.values = {Duration{0}}};
        int distance = draw(0, 20);
        for (int i = draw(1, 4); i > 0; --i) {
          pattern.values.push_back(pattern.values.back() + Duration(distance));
          distance += draw(0, 40);
        }
        pattern.values.push_back(pattern.values.back() + Duration(distance) + period);
        return pattern;
      }
      default:
        return model::PeriodicActivation{period, jitter};
    }
  }

  model::Callback& add_callback(CallbackKind kind, ExecutorIndex executor) {
    model::Callback& callback = model_.callbacks.emplace_back();
    callback.id = fmt::format("c{}", model_.callbacks.size() - 1);
    callback.node = fmt::format("/n{}", draw(0, 4));
    callback.kind = kind;
    callback.executor = executor;
    callback.registration = draw(0, 9);
    callback.execution_time = costs(6);
    if (one_in(3)) callback.priority = draw(1, 5);
    if (one_in(3)) callback.deadline = Duration(draw(10, 200));
    return callback;
  }

  void add_sources(ExecutorIndex executor) {
    const bool event_source = model_[executor].kind == ExecutorKind::event_source;
    const int count = event_source ? 1 : draw(executor.value() == 0 ? 1 : 0, 3);
    for (int i = 0; i < count; ++i) {
      CallbackKind kind = one_in(3) ? CallbackKind::subscription : CallbackKind::timer;
      if (event_source) kind = CallbackKind::event_source;
      add_callback(kind, executor).activation = activation();
    }
  }

  void add_subscriber(std::size_t executors) {
    constexpr std::array kinds = {CallbackKind::subscription, CallbackKind::subscription,
                                  CallbackKind::subscription, CallbackKind::service,
                                  CallbackKind::client,       CallbackKind::waitable};
    const std::size_t others = model_.callbacks.size();
    const CallbackIndex added(others);
    add_callback(kinds[pick(kinds.size())], ExecutorIndex(pick(executors)));
    std::vector<CallbackIndex> inputs;
    for (int i = one_in(3) ? draw(2, 3) : 1; i > 0; --i) {
      const CallbackIndex from(pick(others));
      if (std::ranges::find(inputs, from) != inputs.end()) continue;
      inputs.push_back(from);
      add_edge(from, added);
    }
    if (inputs.size() > 1 && one_in(2)) {
      const auto kind = one_in(2) ? model::JoinKind::and_ : model::JoinKind::newest;
      model_.joins.push_back({.callback = added, .kind = kind, .inputs = inputs, .unknown = {}});
    }
  }

  void add_edge(CallbackIndex from, CallbackIndex to) {
    model::Edge edge;
    edge.from = from;
    edge.to = to;
    const bool local = model_[from].executor == model_[to].executor;
    if (!local && one_in(2)) edge.delay = Duration(draw(1, 20));
    if (one_in(5)) {
      for (const model::Edge& incoming : model_.edges) {
        if (incoming.to != from || one_in(2)) continue;
        if (!edge.triggered_by) edge.triggered_by.emplace();
        edge.triggered_by->push_back(incoming.from);
      }
    }
    model_.edges.push_back(edge);
  }

  /// A timer that reads what another callback publishes.
  void add_sampling() {
    const CallbackIndex to(pick(model_.callbacks.size()));
    const CallbackIndex from(pick(model_.callbacks.size()));
    if (model_[to].kind == CallbackKind::timer && from != to) add_edge(from, to);
  }

  /// A walk along edges from any callback.
  void add_chain() {
    model::Chain& chain = model_.chains.emplace_back();
    chain.id = fmt::format("chain{}", model_.chains.size() - 1);
    chain.callbacks = {CallbackIndex(pick(model_.callbacks.size()))};
    while (chain.callbacks.size() < 6) {
      std::vector<CallbackIndex> next;
      for (const model::Edge& edge : model_.edges) {
        if (edge.from == chain.callbacks.back()) next.push_back(edge.to);
      }
      if (next.empty() || one_in(6)) break;
      chain.callbacks.push_back(next[pick(next.size())]);
    }
  }

  std::mt19937& random_;
  std::span<const ExecutorKind> kinds_;
  Model model_;
};

/// The model without a callback and all that speaks of it.
Model without_callback(const Model& model, CallbackIndex removed) {
  Model result = model;
  const auto is_removed = [&](CallbackIndex c) { return c == removed; };
  result.callbacks.erase(result.callbacks.begin() + static_cast<std::ptrdiff_t>(removed.value()));
  std::erase_if(result.edges,
                [&](const auto& e) { return is_removed(e.from) || is_removed(e.to); });
  std::erase_if(result.joins, [&](const auto& j) { return is_removed(j.callback); });
  for (auto& join : result.joins) std::erase_if(join.inputs, is_removed);
  for (auto& chain : result.chains) std::erase_if(chain.callbacks, is_removed);
  for (auto& executor : result.executors) {
    if (!executor.table) continue;
    std::erase_if(executor.table->entries, [&](const auto& e) { return is_removed(e.callback); });
    if (executor.table->entries.empty()) executor.table.reset();
  }
  std::erase_if(result.joins, [](const auto& j) { return j.inputs.empty(); });
  std::erase_if(result.chains, [](const auto& c) { return c.callbacks.empty(); });
  const auto renumber = [&](CallbackIndex& c) {
    if (c > removed) c = CallbackIndex(c.value() - 1);
  };
  for (auto& edge : result.edges) {
    renumber(edge.from);
    renumber(edge.to);
    if (!edge.triggered_by) continue;
    std::erase_if(*edge.triggered_by, is_removed);
    for (CallbackIndex& c : *edge.triggered_by) renumber(c);
  }
  for (auto& executor : result.executors) {
    if (!executor.table) continue;
    for (auto& entry : executor.table->entries) renumber(entry.callback);
  }
  for (auto& join : result.joins) {
    renumber(join.callback);
    for (CallbackIndex& c : join.inputs) renumber(c);
  }
  for (auto& chain : result.chains) {
    for (CallbackIndex& c : chain.callbacks) renumber(c);
  }
  return result;
}

/// The model without an executor that has no callbacks; else the same.
Model without_executor(const Model& model, ExecutorIndex removed) {
  const bool used =
      std::ranges::any_of(model.callbacks, [&](const auto& c) { return c.executor == removed; });
  if (used) return model;
  Model result = model;
  result.executors.erase(result.executors.begin() + static_cast<std::ptrdiff_t>(removed.value()));
  for (auto& callback : result.callbacks) {
    if (callback.executor > removed)
      callback.executor = ExecutorIndex(callback.executor.value() - 1);
  }
  return result;
}

void smaller_times(std::vector<Model>& candidates, const Model& model,
                   const std::function<Duration*(Model&)>& time, Duration least = {}) {
  Model copy = model;
  const Duration* value = time(copy);
  if (value == nullptr) return;
  const Duration original = *value;
  for (const Duration smaller : {least, original / 2, original - epsilon}) {
    if (smaller >= original || smaller < least) continue;
    copy = model;
    *time(copy) = smaller;
    candidates.push_back(copy);
  }
}

/// Models that are a little simpler, the simplest first.
std::vector<Model> simpler(const Model& model) {
  std::vector<Model> candidates;
  const auto change = [&](const auto& edit) {
    Model copy = model;
    edit(copy);
    if (copy != model) candidates.push_back(std::move(copy));
  };
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    candidates.push_back(without_callback(model, CallbackIndex(i)));
  }
  for (std::size_t i = 0; i < model.executors.size(); ++i) {
    change([&](Model& m) { m = without_executor(m, ExecutorIndex(i)); });
    change([&](Model& m) { m.executors[i].supply = model::DedicatedSupply{}; });
    change([&](Model& m) { m.executors[i].overhead.clear(); });
    change([&](Model& m) { m.executors[i].timers = model::TimerHandling::polled; });
    change([&](Model& m) { m.executors[i].threads = 1; });
    const auto reservation = [i](Model& m) {
      return std::get_if<model::ReservationSupply>(&m.executors[i].supply);
    };
    smaller_times(candidates, model, [=](Model& m) {
      auto* r = reservation(m);
      return r == nullptr ? nullptr : &r->budget;
    });
    smaller_times(candidates, model, [=](Model& m) {
      auto* r = reservation(m);
      return r == nullptr ? nullptr : &r->deadline;
    });
  }
  const auto erase_each = [&](auto member) {
    for (std::size_t i = 0; i < (model.*member).size(); ++i) {
      change([&](Model& m) {
        (m.*member).erase((m.*member).begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
  };
  erase_each(&Model::chains);
  erase_each(&Model::joins);
  erase_each(&Model::edges);
  for (std::size_t i = 0; i < model.chains.size(); ++i) {
    change([&](Model& m) { m.chains[i].callbacks.pop_back(); });
    change([&](Model& m) { m.chains[i].callbacks.erase(m.chains[i].callbacks.begin()); });
  }
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    change([&](Model& m) { m.edges[i].triggered_by.reset(); });
    smaller_times(candidates, model, [i](Model& m) { return &m.edges[i].delay; });
  }
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    change([&](Model& m) { m.callbacks[i].priority.reset(); });
    change([&](Model& m) { m.callbacks[i].deadline.reset(); });
    change([&](Model& m) { m.callbacks[i].registration = 0; });
    change([&](Model& m) { m.callbacks[i].execution_time.resize(1); });
    smaller_times(
        candidates, model, [i](Model& m) { return &m.callbacks[i].execution_time[0]; }, epsilon);
    const auto periodic = [i](Model& m) {
      auto& activation = m.callbacks[i].activation;
      return activation ? std::get_if<model::PeriodicActivation>(&*activation) : nullptr;
    };
    smaller_times(candidates, model, [=](Model& m) {
      auto* p = periodic(m);
      return p == nullptr ? nullptr : &p->jitter;
    });
    change([&](Model& m) {
      if (periodic(m) == nullptr && m.callbacks[i].activation) {
        m.callbacks[i].activation = model::PeriodicActivation{Duration(100), Duration(0)};
      }
    });
  }
  return candidates;
}

}  // namespace

Model random_model(std::mt19937& random, std::span<const ExecutorKind> kinds) {
  Model model = Generator(random, kinds).generate();
  // Trigger sets may name callbacks whose edges make a cycle of timers and subscribers; rare.
  while (!model::validate(model, "random")) model = Generator(random, kinds).generate();
  return model;
}

Model shrink(Model model, const std::function<bool(const Model&)>& fails) {
  for (bool shrunk = true; std::exchange(shrunk, false);) {
    for (Model& candidate : simpler(model)) {
      if (!model::validate(candidate, "shrunk") || !fails(candidate)) continue;
      model = std::move(candidate);
      shrunk = true;
      break;
    }
  }
  return model;
}

}  // namespace takt::simulation
