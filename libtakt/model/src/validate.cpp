#include "takt/model/validate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "ranges.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/link_times.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/model/trigger_order.hpp"

namespace takt::model {

namespace {

/// Each check returns the first fault it finds, or an empty string: "path: what is wrong; remedy".
/// Ranges of single values and lengths of lists have been checked before (ranges.hpp).
std::string check_monotone(std::span<const Duration> values, const std::string& path,
                           std::string_view unit = " ns") {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && values[i] < values[i - 1]) {
      return fmt::format(
          "{0}[{1}]: {2}{4} is less than the {3}{4} before it; the values are "
          "cumulative",
          path, i, values[i].count(), values[i - 1].count(), unit);
    }
  }
  return {};
}

/// A cumulative cost curve, of execution times or overheads (ros-llama S-1.6).
std::string check_cost_curve(std::span<const Duration> values, const std::string& path,
                             std::string_view unit = " ns") {
  if (auto fault = check_monotone(values, path, unit); !fault.empty()) return fault;
  if (const auto split = curves::find_sub_additivity_violation(values)) {
    const std::size_t total = split->m + split->n;
    return fmt::format(
        "{0}[{1}]: not sub-additive: {2} instances cannot cost {3}{8} when {4} cost "
        "at most {5}{8} and {6} at most {7}{8}",
        path, total - 1, total, values[total - 1].count(), split->m, values[split->m - 1].count(),
        split->n, values[split->n - 1].count(), unit);
  }
  return {};
}

std::string check_times_in_a_row(const Suspension& suspension, const std::string& path) {
  const std::vector<std::int64_t>& counts = suspension.times_in_a_row;
  if (counts.empty()) return {};
  if (counts.front() != suspension.times) {
    return fmt::format("{}[0]: must be {}, as `times` says", path, suspension.times);
  }
  return check_cost_curve(curves::as_costs(counts), path, "");
}

std::string check_min_distance(std::span<const Duration> values, const std::string& path) {
  if (auto fault = check_monotone(values, path); !fault.empty()) return fault;
  if (values.back() == Duration{0}) {
    return fmt::format("{}[{}]: must be above 0, else activations are not limited at all", path,
                       values.size() - 1);
  }
  if (const auto split = curves::find_super_additivity_violation(values)) {
    const std::size_t total = split->m + split->n - 1;
    return fmt::format(
        "{}[{}]: not super-additive: {} activations cannot fit in {} ns when {} "
        "need {} ns and {} need {} ns",
        path, total - 1, total, values[total - 1].count(), split->m, values[split->m - 1].count(),
        split->n, values[split->n - 1].count());
  }
  return {};
}

/// Checks `slots` of any type; `slot_of` gives the Slot of an element.
template <typename Slots, typename SlotOf>
std::string check_slots(Duration cycle, const Slots& slots, SlotOf slot_of,
                        const std::string& path) {
  Slot previous;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot slot = slot_of(slots[i]);
    const std::string element = fmt::format("{}.slots[{}]", path, i);
    if (slot.end <= slot.start || slot.end > cycle) {
      return fmt::format("{}: [{}, {}) ns is no part of the cycle [0, {}) ns", element,
                         slot.start.count(), slot.end.count(), cycle.count());
    }
    if (slot.start < previous.end) {
      return fmt::format(
          "{}: [{}, {}) ns overlaps or precedes [{}, {}) ns before it; slots are in the order of "
          "their starts",
          element, slot.start.count(), slot.end.count(), previous.start.count(),
          previous.end.count());
    }
    previous = slot;
  }
  return {};
}

std::string check_supply(const Supply& supply, const std::string& path) {
  if (const auto* table = std::get_if<SlotSupply>(&supply)) {
    return check_slots(
        table->cycle, table->slots, [](const Slot& slot) { return slot; }, path);
  }
  if (const auto* fixed = std::get_if<FixedPrioritySupply>(&supply)) {
    if (fixed->withheld < fixed->withheld_period) return {};
    return fmt::format(
        "{}.withheld: {} ns of every {} ns leave nothing; it is less than withheld_period", path,
        fixed->withheld.count(), fixed->withheld_period.count());
  }
  const auto* reservation = std::get_if<ReservationSupply>(&supply);
  if (reservation == nullptr) return {};
  if (reservation->deadline > reservation->period) {
    return fmt::format(
        "{}.deadline: {} ns is longer than the period of {} ns; a reservation needs "
        "budget <= deadline <= period",
        path, reservation->deadline.count(), reservation->period.count());
  }
  if (reservation->budget > reservation->deadline) {
    return fmt::format(
        "{}.budget: {} ns is more than the deadline of {} ns; a reservation needs "
        "budget <= deadline <= period",
        path, reservation->budget.count(), reservation->deadline.count());
  }
  return {};
}

class Validator {
 public:
  explicit Validator(const Model& model) : model_(model) {
    for (const Edge& edge : model.edges) {
      ++connected_[{edge.from, edge.to}];
      if (!activates(model, edge)) continue;
      has_input_.insert(edge.to);
      activating_.insert({edge.from, edge.to});
    }
    for (const Executor& executor : model.executors) executor_ids_.insert(executor.id);
  }

  std::string first_fault() {
    if (auto fault = first_out_of_range(model_); !fault.empty()) return fault;
    if (auto fault = check_ids(model_.executors, "executors"); !fault.empty()) return fault;
    if (auto fault = check_ids(model_.callbacks, "callbacks"); !fault.empty()) return fault;
    if (auto fault = check_ids(model_.links, "links"); !fault.empty()) return fault;
    if (auto fault = check_ids(model_.chains, "chains"); !fault.empty()) return fault;
    if (auto fault = check_each(model_.executors, &Validator::check_executor); !fault.empty()) {
      return fault;
    }
    if (auto fault = check_each(model_.callbacks, &Validator::check_callback); !fault.empty()) {
      return fault;
    }
    if (auto fault = check_each(model_.links, &Validator::check_link); !fault.empty()) {
      return fault;
    }
    if (auto fault = check_each(model_.edges, &Validator::check_hop); !fault.empty()) return fault;
    if (auto fault = check_each(model_.edges, &Validator::check_share); !fault.empty())
      return fault;
    if (auto fault = check_each(model_.edges, &Validator::check_triggers); !fault.empty()) {
      return fault;
    }
    if (auto fault = check_each(model_.joins, &Validator::check_join); !fault.empty()) return fault;
    if (auto fault = check_each(model_.chains, &Validator::check_chain); !fault.empty()) {
      return fault;
    }
    if (const auto cycle = trigger_order(model_).cycle; !cycle.empty()) {
      return fmt::format(
          "edges: cyclic trigger relation {}: one activation would cause "
          "activations without end; break it with triggered_by on one of the edges",
          cycle);
    }
    return {};
  }

 private:
  template <typename Object>
  std::string check_ids(const std::vector<Object>& objects, std::string_view list) {
    std::unordered_set<std::string_view> ids;
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (objects[i].id.empty()) return fmt::format("{}[{}].id: must not be empty", list, i);
      if (!ids.insert(objects[i].id).second) {
        return fmt::format("{}[{}].id: \"{}\" is taken by another of the {}; ids are unique", list,
                           i, objects[i].id, list);
      }
    }
    return {};
  }

  template <typename Object>
  std::string check_each(const std::vector<Object>& objects,
                         std::string (Validator::*check)(const Object&, std::size_t)) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (auto fault = (this->*check)(objects[i], i); !fault.empty()) return fault;
    }
    return {};
  }

  std::string check_executor(const Executor& executor, std::size_t i) {
    const std::string path = fmt::format("executors[{}]", i);
    if (auto fault = check_supply(executor.supply, path + ".supply"); !fault.empty()) return fault;
    if (auto fault = check_withheld(executor, path); !fault.empty()) return fault;
    if (auto fault = check_cost_curve(executor.overhead, path + ".overhead"); !fault.empty()) {
      return fault;
    }
    if (auto fault = check_release_overhead(executor, path); !fault.empty()) return fault;
    if (auto fault = check_table(executor, i, path); !fault.empty()) return fault;
    if (executor.threads > 1 && !has(executor.kind, ExecutorTrait::several_threads)) {
      return fmt::format("{}.threads: a {} executor has one thread; use kind multi_threaded", path,
                         to_string(executor.kind));
    }
    return {};
  }

  /// What the kernel withholds is a property of the processor.
  std::string check_withheld(const Executor& executor, const std::string& path) {
    const auto* fixed = std::get_if<FixedPrioritySupply>(&executor.supply);
    if (fixed == nullptr || !executor.cpu) return {};
    const auto [first, is_first] = withheld_.try_emplace(*executor.cpu, &executor);
    if (is_first) return {};
    const auto& other = std::get<FixedPrioritySupply>(first->second->supply);
    if (other.withheld == fixed->withheld && other.withheld_period == fixed->withheld_period) {
      return {};
    }
    return fmt::format(
        "{}.supply: {} ns of every {} ns are withheld on cpu {}, but {} of every {} ns by executor "
        "\"{}\"; what the kernel withholds is the same for all threads of a cpu",
        path, fixed->withheld.count(), fixed->withheld_period.count(), *executor.cpu,
        other.withheld.count(), other.withheld_period.count(), first->second->id);
  }

  std::string check_release_overhead(const Executor& executor, const std::string& path) {
    if (executor.release_overhead == Duration{0}) return {};
    if (has(executor.kind, ExecutorTrait::release_thread)) return {};
    return fmt::format(
        "{}.release_overhead: a {} executor has no thread that releases; leave it out", path,
        to_string(executor.kind));
  }

  std::string check_table(const Executor& executor, std::size_t index, const std::string& path) {
    if (!executor.table) return {};
    if (!has(executor.kind, ExecutorTrait::table)) {
      return fmt::format("{}.table: a {} executor goes by no table; use kind table_driven", path,
                         to_string(executor.kind));
    }
    const auto& entries = executor.table->entries;
    for (std::size_t n = 0; n < entries.size(); ++n) {
      const Callback& callback = model_[entries[n].callback];
      if (callback.executor == ExecutorIndex{index}) continue;
      return fmt::format("{}.table.slots[{}].callback: \"{}\" is on executor \"{}\", not on \"{}\"",
                         path, n, callback.id, model_[callback.executor].id, executor.id);
    }
    return check_slots(
        executor.table->cycle, entries, [](const SlotTable::Entry& entry) { return entry.slot; },
        path + ".table");
  }

  std::string check_callback(const Callback& callback, std::size_t i) {
    const std::string path = fmt::format("callbacks[{}]", i);
    const std::string curve = path + ".execution_time.curve";
    if (auto fault = check_cost_curve(callback.execution_time, curve); !fault.empty()) return fault;
    if (callback.suspension) {
      const std::string suspension = path + ".suspension";
      auto fault = check_cost_curve(callback.suspension->curve, suspension + ".curve");
      if (!fault.empty()) return fault;
      fault = check_times_in_a_row(*callback.suspension, suspension + ".times_in_a_row");
      if (!fault.empty()) return fault;
    }
    if (callback.activation) {
      if (const auto* spans = std::get_if<MinDistanceActivation>(&*callback.activation)) {
        auto fault = check_min_distance(spans->values, path + ".activation.values");
        if (!fault.empty()) return fault;
      }
      const auto* periodic = std::get_if<PeriodicActivation>(&*callback.activation);
      if (periodic != nullptr && periodic->phase && *periodic->phase >= periodic->period) {
        return fmt::format(
            "{}.activation.phase: {} ns is not below the period, {} ns; give the remainder, since "
            "phases only say how timers lie to each other",
            path, periodic->phase->count(), periodic->period.count());
      }
    } else if (samples_messages(callback)) {
      return fmt::format(
          "{}.activation: missing; {} \"{}\" is activated by no message, so say how "
          "often it is activated",
          path, to_string(callback.kind), callback.id);
    } else if (!has_input_.contains(CallbackIndex{i})) {
      return fmt::format(
          "{}.activation: missing; no edge leads to {} \"{}\", so say how often it "
          "is activated or add the edge",
          path, to_string(callback.kind), callback.id);
    }
    return check_event_source(callback, path);
  }

  /// Event sources are threads of their own (ros-llama S-1.5).
  std::string check_event_source(const Callback& callback, const std::string& path) {
    const bool source = callback.kind == CallbackKind::event_source;
    const Executor& executor = model_[callback.executor];
    if (source != has(executor.kind, ExecutorTrait::outside_ros)) {
      return fmt::format(
          "{}.executor: {} \"{}\" cannot be on {} executor \"{}\"; an event source "
          "is alone on an executor of kind event_source",
          path, to_string(callback.kind), callback.id, to_string(executor.kind), executor.id);
    }
    if (source && !source_executors_.insert(callback.executor).second) {
      return fmt::format(
          "{}.executor: \"{}\" already has an event source; give each one an "
          "executor of its own",
          path, executor.id);
    }
    return {};
  }

  /// Results name links and executors in the same places, so their ids must differ.
  std::string check_link(const Link& link, std::size_t i) {
    if (!executor_ids_.contains(link.id)) return {};
    return fmt::format("links[{}].id: \"{}\" is an executor; give the link a name of its own", i,
                       link.id);
  }

  std::string check_hop(const Edge& edge, std::size_t i) {
    if (!edge.link) return {};
    const std::string path = fmt::format("edges[{}]", i);
    const std::string& from = model_[edge.from].id;
    const std::string& to = model_[edge.to].id;
    if (edge.transport) {
      return fmt::format(
          "{}.transport: \"{}\" stays on one machine, and a link leads to another; leave one out",
          path, to_string(*edge.transport));
    }
    if (model_[edge.from].executor == model_[edge.to].executor) {
      return fmt::format(
          "{}.link: \"{}\" and \"{}\" run on one executor, so no link is between them", path, from,
          to);
    }
    if (connected_.at({edge.from, edge.to}) > 1) {
      return fmt::format(
          "{}.link: another edge leads from \"{}\" to \"{}\"; an edge over a link is the only one "
          "between its callbacks",
          path, from, to);
    }
    const Link& link = model_[*edge.link];
    if (message_time(link, edge.message_size) <= curves::longest_time) return {};
    return fmt::format(
        "{}.message_size: {} bytes take longer than the longest time on link \"{}\", {} ns (11.5 "
        "days)",
        path, edge.message_size, link.id, curves::longest_time.count());
  }

  std::string check_share(const Edge& edge, std::size_t i) {
    if (edge.messages.has_value() != edge.instances.has_value()) {
      return fmt::format("edges[{}].{}: missing; a share of instances that send needs both fields",
                         i, edge.messages ? "instances" : "messages");
    }
    if (!edge.messages || *edge.messages <= *edge.instances) return {};
    return fmt::format("edges[{}].messages: {} of {} instances cannot send", i, *edge.messages,
                       *edge.instances);
  }

  std::string check_triggers(const Edge& edge, std::size_t i) {
    if (!edge.triggered_by) return {};
    for (std::size_t t = 0; t < edge.triggered_by->size(); ++t) {
      const CallbackIndex trigger = (*edge.triggered_by)[t];
      if (!connected_.contains({trigger, edge.from})) {
        return fmt::format(
            "edges[{}].triggered_by[{}]: \"{}\" is not a predecessor of \"{}\"; no "
            "edge leads from it",
            i, t, model_[trigger].id, model_[edge.from].id);
      }
    }
    return {};
  }

  std::string check_join(const Join& join, std::size_t i) {
    const std::string path = fmt::format("joins[{}]", i);
    const std::string& id = model_[join.callback].id;
    if (!joined_.insert(join.callback).second) {
      return fmt::format("{}.callback: \"{}\" already has a join", path, id);
    }
    if (model_[join.callback].kind == CallbackKind::timer ||
        model_[join.callback].kind == CallbackKind::event_source) {
      return fmt::format(
          "{}.callback: {} \"{}\" is not activated by messages, so it cannot join "
          "them",
          path, to_string(model_[join.callback].kind), id);
    }
    std::set<CallbackIndex> inputs;
    std::set<CallbackIndex> completing;
    for (std::size_t n = 0; n < join.inputs.size(); ++n) {
      const std::string& input = model_[join.inputs[n]].id;
      if (!connected_.contains({join.inputs[n], join.callback})) {
        return fmt::format(
            "{}.inputs[{}]: \"{}\" is not a predecessor of \"{}\"; no edge leads "
            "from it",
            path, n, input, id);
      }
      if (!activating_.contains({join.inputs[n], join.callback})) {
        return fmt::format(
            "{}.inputs[{}]: the edge from \"{}\" to \"{}\" has a confidence, so it activates "
            "nothing; leave one of the two out",
            path, n, input, id);
      }
      if (!inputs.insert(join.inputs[n]).second) {
        return fmt::format("{}.inputs[{}]: \"{}\" is named twice", path, n, input);
      }
    }
    for (std::size_t n = 0; n < join.completed_by.size(); ++n) {
      const std::string& input = model_[join.completed_by[n]].id;
      if (!inputs.contains(join.completed_by[n])) {
        return fmt::format("{}.completed_by[{}]: \"{}\" is not among the inputs", path, n, input);
      }
      if (!completing.insert(join.completed_by[n]).second) {
        return fmt::format("{}.completed_by[{}]: \"{}\" is named twice", path, n, input);
      }
    }
    return {};
  }

  std::string check_chain(const Chain& chain, std::size_t i) {
    const std::string path = fmt::format("chains[{}]", i);
    for (std::size_t n = 1; n < chain.callbacks.size(); ++n) {
      if (connected_.contains({chain.callbacks[n - 1], chain.callbacks[n]})) continue;
      return fmt::format(
          "{}.callbacks[{}]: no edge leads from \"{}\" to \"{}\"; a chain follows "
          "edges",
          path, n, model_[chain.callbacks[n - 1]].id, model_[chain.callbacks[n]].id);
    }
    return {};
  }

  const Model& model_;
  /// How many edges lead from one callback to another.
  std::map<std::pair<CallbackIndex, CallbackIndex>, std::size_t> connected_;
  std::unordered_set<std::string_view> executor_ids_;
  std::set<CallbackIndex> has_input_;
  std::set<std::pair<CallbackIndex, CallbackIndex>> activating_;
  std::set<ExecutorIndex> source_executors_;
  std::set<CallbackIndex> joined_;
  /// By cpu: the first executor at a fixed priority.
  std::map<std::int64_t, const Executor*> withheld_;
};

}  // namespace

Result<void> validate(const Model& model, std::string_view source) {
  const std::string fault = Validator(model).first_fault();
  if (!fault.empty()) return error("{}: {}", source, fault);
  return {};
}

}  // namespace takt::model
