#include "system/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <variant>

#include "system/cpu_sharing.hpp"
#include "system/shared_core.hpp"
#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/message_share.hpp"
#include "takt/model/order.hpp"
#include "takt/model/trigger_order.hpp"

namespace takt::analysis {

namespace {

curves::SupplyBound supply_of(const model::Supply& supply) {
  if (const auto* table = std::get_if<model::SlotSupply>(&supply)) {
    std::vector<curves::SupplyBound::Slot> slots;
    for (const model::Slot& slot : table->slots) slots.push_back({slot.start, slot.end});
    return curves::SupplyBound::slots(slots, table->cycle);
  }
  const auto* reservation = std::get_if<model::ReservationSupply>(&supply);
  if (reservation == nullptr) return curves::SupplyBound::dedicated();
  return curves::SupplyBound::reservation(reservation->budget, reservation->period,
                                          reservation->deadline);
}

curves::ActivationCurve curve_of(const model::Activation& activation) {
  using curves::ActivationCurve;
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return ActivationCurve::periodic(periodic->period, periodic->jitter);
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return ActivationCurve::periodic(sporadic->min_separation, sporadic->jitter);
  }
  return ActivationCurve::min_distance(std::get<model::MinDistanceActivation>(activation).values);
}

bool is_polled(const model::Callback& callback, const model::Executor& executor) {
  if (callback.kind == model::CallbackKind::event_source) return false;
  return callback.kind != model::CallbackKind::timer || executor.timers == TimerHandling::polled;
}

/// The cost curve of instances that also suspend themselves: what they execute, and the supply that
/// their thread forgoes meanwhile (docs/analysis-theory.md, "Suspension"). Slots come and go by
/// time, and so do those who go before by their priority, so there a suspension forgoes no more
/// than its own length.
std::vector<Duration> occupation(const model::Callback& callback, const model::Executor& executor,
                                 const curves::SupplyBound& supply) {
  if (!callback.suspension) return callback.execution_time;
  const curves::ExecutionTimeCurve executed(callback.execution_time);
  const curves::ExecutionTimeCurve suspended(callback.suspension->curve);
  const curves::ExecutionTimeCurve times(curves::as_costs(callback.suspension->times_curve()));
  const bool by_time = std::holds_alternative<model::SlotSupply>(executor.supply) ||
                       std::holds_alternative<model::FixedPrioritySupply>(executor.supply);
  std::vector<Duration> curve;
  for (std::size_t n = 1; n <= std::max({executed.given(), suspended.given(), times.given()});
       ++n) {
    const auto instances = static_cast<std::int64_t>(n);
    const Duration sleep = suspended(instances);
    const Duration forgone = by_time ? sleep : supply.forgone(sleep, times(instances).count());
    const Duration cost = curves::saturating_add(executed(instances), forgone);
    // The curve goes on above a value that is too large.
    if (cost > curves::longest_time && !curve.empty()) break;
    curve.push_back(std::min(cost, curves::longest_time));
  }
  return curve;
}

/// An overhead curve bounds the overheads of consecutive instances of an executor. On several
/// threads, those that fall to a callback need not be consecutive, so each may be the longest.
Cost cost_of(const model::Callback& callback, const model::Executor& executor,
             const curves::SupplyBound& supply) {
  const bool threads =
      executor.threads > 1 && has(executor.kind, model::ExecutorTrait::several_threads);
  if (!threads || executor.overhead.empty()) {
    return {occupation(callback, executor, supply), executor.overhead};
  }
  return {occupation(callback, executor, supply), {executor.overhead.front()}};
}

/// The long-run rate of a callback's own activations; 0 if it has none.
curves::ActivationCurve::Rate rate_of(const Task& task) {
  return task.own ? task.own->long_run() : curves::ActivationCurve::Rate{.events = 0};
}

bool rarer(const curves::ActivationCurve::Rate& one, const curves::ActivationCurve::Rate& other) {
  return Int128{one.events} * other.span.count() < Int128{other.events} * one.span.count();
}

}  // namespace

System::System(const model::Model& model) : executors(model.executors.size()) {
  policy::Describer describer(model);
  const std::vector<WindowPlace> places = model::window_places(model);
  tasks.reserve(model.callbacks.size());
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const model::Callback& callback = model.callbacks[c];
    const model::Executor& executor = model[callback.executor];
    tasks.push_back(Task{.executor = callback.executor,
                         .cost = cost_of(callback, executor, supply_of(executor.supply)),
                         .polled = is_polled(callback, executor),
                         .place = places[c],
                         .activation = callback.activation,
                         .is_timer = callback.kind == model::CallbackKind::timer,
                         .samples = model::samples_messages(callback),
                         .queue_depth = callback.queue_depth});
    if (callback.activation) tasks.back().own = curve_of(*callback.activation);
  }
  for (const model::Chain& chain : model.chains) chains.push_back(chain.callbacks);
  auto contention = cpu_contention(model);
  for (std::size_t e = 0; e < executors.size(); ++e) {
    executors[e].release_overhead = model.executors[e].release_overhead;
    executors[e].longest_piece = model.executors[e].longest_piece;
    executors[e].contention = std::move(contention[e]);
    if (const auto& reason = model.executors[e].unclassifiable) {
      executors[e].undescribed =
          fmt::format("executor \"{}\" is unclassifiable: {}", model.executors[e].id, *reason);
    }
    const auto& callbacks = executors[e].callbacks = describer.callbacks(ExecutorIndex{e});
    for (std::size_t r = 0; r < callbacks.size(); ++r) tasks[callbacks[r].value()].rank = r;
  }
  for (std::size_t e = 0; e < executors.size(); ++e) supply_executor(model, ExecutorIndex{e});
  add_edges(model);
  add_joins(model);
  add_triggers(model);
  order_propagation();
  add_components();
  describe_executors(describer);
}

void System::supply_executor(const model::Model& model, ExecutorIndex index) {
  LocalExecutor& executor = executors[index.value()];
  executor.supply = executor.supply_from_quiet = supply_of(model[index].supply);
  Rivals rivals = rivals_of(model, index);
  executor.shared_core.reset();
  if (rivals.none()) return;
  for (const auto* list : {&rivals.higher, &rivals.equal}) {
    for (const ExecutorIndex rival : *list) {
      auto& disturbed = executors[rival.value()].disturbed;
      if (!std::ranges::count(disturbed, index)) disturbed.push_back(index);
    }
  }
  executor.shared_core = std::make_shared<SharedCore>(std::move(rivals));
  executor.supply = curves::SupplyBound::remaining(executor.shared_core->in_any_window());
  executor.supply_from_quiet = curves::SupplyBound::remaining(executor.shared_core->from_quiet());
}

std::vector<ExecutorIndex> System::set_supply(const model::Model& model, ExecutorIndex executor) {
  supply_executor(model, executor);
  for (const CallbackIndex callback : executors[executor.value()].callbacks) {
    if (model[callback].suspension) set_cost(model, callback);
  }
  std::vector<ExecutorIndex> changed{executor};
  if (!model[executor].cpu) return changed;
  auto contention = cpu_contention(model);
  for (std::size_t e = 0; e < executors.size(); ++e) {
    const bool shares = executors[e].shared_core && model.executors[e].cpu == model[executor].cpu;
    if (shares) supply_executor(model, ExecutorIndex{e});
    if (executors[e].contention == contention[e] && !shares) continue;
    executors[e].contention = std::move(contention[e]);
    changed.emplace_back(e);
  }
  return changed;
}

void System::set_cost(const model::Model& model, CallbackIndex callback) {
  const model::Callback& changed = model[callback];
  tasks[callback.value()].cost =
      cost_of(changed, model[changed.executor], executors[changed.executor.value()].supply);
}

std::vector<ExecutorIndex> System::set_activation(const model::Model& model,
                                                  CallbackIndex callback) {
  tasks[callback.value()].activation = model[callback].activation;
  tasks[callback.value()].own = curve_of(*model[callback].activation);
  order_propagation();
  std::vector<policy::Urgency> before;
  for (const Task& task : tasks) before.push_back(task.urgency);
  policy::Describer describer(model);
  describe_executors(describer);
  std::set<ExecutorIndex> changed;
  for (std::size_t c = 0; c < tasks.size(); ++c) {
    if (tasks[c].urgency != before[c]) changed.insert(tasks[c].executor);
  }
  return {changed.begin(), changed.end()};
}

void System::describe_executors(policy::Describer& describer) {
  std::size_t next_group = 0;
  for (std::size_t e = 0; e < executors.size(); ++e) {
    LocalExecutor& executor = executors[e];
    auto described = describer.describe(ExecutorIndex{e});
    if (!described) {
      executor.undescribed = described.error().message;
      continue;
    }
    executor.description = *std::move(described);
    const auto task = [&](scheduling::LocalIndex local) -> Task& {
      return tasks[executor.callbacks[local.value()].value()];
    };
    for (std::size_t i = 0; i < executor.description.urgencies.size(); ++i) {
      task(scheduling::LocalIndex{i}).urgency = executor.description.urgencies[i];
    }
    for (const auto& group : executor.description.groups.exclusive) {
      for (const scheduling::LocalIndex member : group) task(member).group = next_group;
      ++next_group;
    }
  }
}

void System::add_edges(const model::Model& model) {
  const auto trigger_order = model::trigger_order(model);
  edge_of_model_.resize(model.edges.size());
  edges.reserve(trigger_order.edges.size());
  for (const std::size_t e : trigger_order.edges) {
    const model::Edge& edge = model.edges[e];
    edge_of_model_[e] = edges.size();
    tasks[edge.to.value()].incoming.push_back(edges.size());
    // A timer has no trigger sets (see add_triggers()): with one in the model, it sends less.
    const bool less = edge.triggered_by && model::samples_messages(model[edge.from]);
    edges.push_back({.from = edge.from,
                     .to = edge.to,
                     .delay = edge.delay,
                     .local = (*this)[edge.from].executor == (*this)[edge.to].executor &&
                              edge.delay == Duration{0},
                     .has_share = less || model::message_share(edge).has_value(),
                     .in_model = e});
    if (edges.back().local) ++tasks[edge.from.value()].local_sends;
    LocalExecutor& sender = executors[(*this)[edge.from].executor.value()];
    const bool within = (*this)[edge.from].executor == (*this)[edge.to].executor;
    sender.delayed = sender.delayed || (within && !edges.back().local);
  }
}

void System::add_joins(const model::Model& model) {
  for (const model::Join& join : model.joins) {
    Task& task = tasks[join.callback.value()];
    task.join = joins.size();
    JoinInputs& inputs = joins.emplace_back();
    inputs.kind = join.kind;
    inputs.callback = join.callback;
    for (const CallbackIndex input : join.inputs) {
      auto& from_input = inputs.inputs.emplace_back();
      for (const std::size_t e : task.incoming) {
        if (edges[e].from == input) from_input.push_back(e);
      }
      inputs.edges.insert(inputs.edges.end(), from_input.begin(), from_input.end());
    }
    std::ranges::sort(inputs.edges);
  }
}

void System::add_triggers(const model::Model& model) {
  struct TriggerSet {
    std::shared_ptr<const std::vector<std::size_t>> edges;
    bool part_of_join = false;
  };
  std::map<std::pair<CallbackIndex, std::set<CallbackIndex>>, TriggerSet> known;
  for (std::size_t e = 0; e < model.edges.size(); ++e) {
    const model::Edge& edge = model.edges[e];
    const Task& sender = (*this)[edge.from];
    if (!edge.triggered_by || model::samples_messages(model[edge.from]) ||
        model::samples_messages(model[edge.to])) {
      continue;
    }
    const std::set<CallbackIndex> named(edge.triggered_by->begin(), edge.triggered_by->end());
    const auto [set, is_new] = known.try_emplace({edge.from, named});
    if (is_new) {
      std::vector<std::size_t> triggers;
      for (const std::size_t in : sender.incoming) {
        if (named.contains(edges[in].from)) triggers.push_back(in);
      }
      if (sender.join) {
        const auto& joined = joins[*sender.join].edges;
        const auto used = std::ranges::count_if(
            triggers, [&](std::size_t in) { return std::ranges::binary_search(joined, in); });
        set->second.part_of_join = used > 0 && static_cast<std::size_t>(used) < joined.size();
      }
      set->second.edges = std::make_shared<const std::vector<std::size_t>>(std::move(triggers));
    }
    TriggerEdge& compiled = edges[edge_of_model_[e]];
    compiled.triggers = set->second.edges;
    if (set->second.part_of_join) compiled.partial_join = partial_joins++;
  }
}

void System::order_propagation() {
  using Step = PropagationStep::Kind;
  for (LocalExecutor& executor : executors) {
    executor.propagation.clear();
    executor.successors.clear();
  }
  std::vector<bool> joined(joins.size(), false);
  // How many edges into each callback have no step yet.
  std::vector<std::size_t> missing;
  missing.reserve(tasks.size());
  const auto steps = [&](CallbackIndex callback) -> auto& {
    return executors[(*this)[callback].executor.value()].propagation;
  };
  const auto add_join = [&](CallbackIndex callback) {
    const auto join = (*this)[callback].join;
    if (!join || joined[*join]) return;
    joined[*join] = true;
    steps(callback).push_back({Step::join, *join});
  };
  // As early as possible, so that bounds are known before they are passed on.
  const auto add_activations = [&](CallbackIndex callback) {
    add_join(callback);
    steps(callback).push_back({Step::activations, callback.value()});
  };
  std::vector<CallbackIndex> sources;
  for (std::size_t c = 0; c < tasks.size(); ++c) {
    missing.push_back(tasks[c].incoming.size());
    if (missing[c] == 0) sources.emplace_back(c);
  }
  // The rarest first: by the round-robin analysis, bounds follow from those of rarer callbacks, as
  // polling points limit how often more frequent ones count.
  std::ranges::stable_sort(sources, rarer, [this](CallbackIndex c) { return rate_of((*this)[c]); });
  std::ranges::for_each(sources, add_activations);
  // Edges are in trigger order: those that an edge needs come before it, and so do all edges into
  // its sender if it needs the sum of them.
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const TriggerEdge& edge = edges[e];
    if (edge.triggers) {
      const auto join = (*this)[edge.from].join;
      if (join && std::ranges::any_of(*edge.triggers, [&](std::size_t in) {
            return std::ranges::binary_search(joins[*join].edges, in);
          })) {
        add_join(edge.from);
      }
    }
    steps(edge.from).push_back({Step::edge, e});
    if (--missing[edge.to.value()] == 0) add_activations(edge.to);
    const ExecutorIndex from = (*this)[edge.from].executor;
    const ExecutorIndex to = (*this)[edge.to].executor;
    if (from != to) executors[from.value()].successors.push_back(to);
  }
  for (LocalExecutor& executor : executors) {
    executor.successors.insert(executor.successors.end(), executor.disturbed.begin(),
                               executor.disturbed.end());
    std::ranges::sort(executor.successors);
    const auto repeated = std::ranges::unique(executor.successors);
    executor.successors.erase(repeated.begin(), repeated.end());
  }
}

}  // namespace takt::analysis
