#include "takt/plan/describe_policy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "category.hpp"
#include "takt/model/order.hpp"
#include "takt/model/urgency.hpp"
#include "takt/scheduling/events.hpp"

namespace takt::plan {

using model::CallbackIndex;
using scheduling::ChainEdfPolicy;
using scheduling::PolicyDescription;
using scheduling::Rule;
using Local = scheduling::CallbackIndex;

namespace {

class Describer {
 public:
  Describer(const model::Model& model, model::ExecutorIndex executor, const PolicyOptions& options)
      : model_(model),
        urgencies_(model),
        executor_(model[executor]),
        callbacks_(model::callbacks_by_executor(model)[executor.value()]),
        options_(options),
        local_(model.callbacks.size()) {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) local_[callbacks_[i].value()] = Local(i);
    for (const CallbackIndex callback : callbacks_) {
      described_.policy.callbacks.push_back({.category = category(model[callback].kind)});
    }
  }

  Result<DescribedPolicy> describe(model::ExecutorKind kind) {
    Result<void> described;
    switch (kind) {
      case model::ExecutorKind::single_threaded:
      case model::ExecutorKind::multi_threaded:
        describe_ready_set();
        break;
      case model::ExecutorKind::events:
      case model::ExecutorKind::event_source:
        described_.policy.rule = Rule::first_released;
        break;
      case model::ExecutorKind::fixed_priority:
        described_.policy.rule = Rule::priority;
        set_priorities(priorities());
        break;
      case model::ExecutorKind::chain_priority:
        describe_chain_priority();
        break;
      case model::ExecutorKind::edf:
        described = describe_edf();
        break;
      case model::ExecutorKind::graph_aware:
        describe_graph_aware();
        break;
      case model::ExecutorKind::table_driven:
        described = describe_table();
        break;
    }
    if (!described) return tl::unexpected(described.error());
    return std::move(described_);
  }

 private:
  template <typename Value>
  std::vector<Value> of_callbacks(const std::vector<Value>& values) const {
    std::vector<Value> result;
    for (const CallbackIndex callback : callbacks_) result.push_back(values[callback.value()]);
    return result;
  }

  void describe_ready_set() {
    described_.policy.rule = Rule::ready_set;
    described_.policy.timers = executor_.timers == model::TimerHandling::privileged
                                   ? scheduling::TimerHandling::privileged
                                   : scheduling::TimerHandling::polled;
  }

  void set_priorities(const std::vector<std::int64_t>& priorities) {
    for (std::size_t i = 0; i < priorities.size(); ++i) {
      described_.policy.callbacks[i].priority = priorities[i];
    }
  }

  void set_deadlines(const std::vector<Duration>& deadlines) {
    for (std::size_t i = 0; i < deadlines.size(); ++i) {
      described_.policy.callbacks[i].deadline =
          std::min(deadlines[i], PolicyDescription::longest_deadline);
    }
  }

  bool any_priority() const {
    return std::ranges::any_of(
        callbacks_, [&](CallbackIndex c) { return urgencies_.priorities[c.value()].has_value(); });
  }

  /// By the model's priorities, those without one least urgent; rate monotonic if there are none.
  std::vector<std::int64_t> priorities() const {
    if (!any_priority()) return scheduling::rate_monotonic(of_callbacks(urgencies_.periods));
    std::vector<std::int64_t> result;
    for (const auto& priority : of_callbacks(urgencies_.priorities)) {
      result.push_back(priority.value_or(PolicyDescription::least_priority));
    }
    return result;
  }

  void describe_chain_priority() {
    std::vector<std::size_t> order(model_.chains.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      return model_.chains[i].rank.value_or(std::numeric_limits<std::int64_t>::max());
    });
    std::vector<std::vector<Local>> chains;
    for (const std::size_t i : order) {
      std::vector<Local>& chain = chains.emplace_back();
      for (const CallbackIndex callback : model_.chains[i].callbacks) {
        if (const auto local = local_[callback.value()]) chain.push_back(*local);
      }
    }
    described_.policy.rule = Rule::priority;
    set_priorities(scheduling::chain_priorities(chains, callbacks_.size()));
  }

  Result<void> describe_edf() {
    EdfDeadlines deadlines = options_.edf_deadlines.value_or(EdfDeadlines::per_instance);
    const bool per_chain =
        deadlines == EdfDeadlines::per_instance || deadlines == EdfDeadlines::frozen_at_completion;
    if (per_chain) {
      auto chains = chain_segments();
      if (chains) {
        described_.policy.chains = std::move(*chains);
      } else if (options_.edf_deadlines) {
        return tl::unexpected(chains.error());
      } else {
        deadlines = EdfDeadlines::inherited;
        described_.warnings.push_back(
            fmt::format("{}; scheduled by inherited deadlines", chains.error().message));
      }
    }
    switch (deadlines) {
      case EdfDeadlines::per_instance:
        described_.policy.rule = Rule::chain_deadline;
        break;
      case EdfDeadlines::frozen_at_completion:
        described_.policy.rule = Rule::frozen_chain_deadline;
        break;
      case EdfDeadlines::inherited:
        described_.policy.rule = Rule::deadline;
        break;
      case EdfDeadlines::per_callback:
        describe_own_deadlines();
        return {};
    }
    set_deadlines(of_callbacks(urgencies_.deadlines));
    return {};
  }

  void describe_own_deadlines() {
    std::vector<Duration> own;
    for (const CallbackIndex callback : callbacks_) {
      own.push_back(model_[callback].deadline.value_or(urgencies_.periods[callback.value()]));
    }
    described_.policy.rule = Rule::deadline;
    described_.policy.own_origin = true;
    set_deadlines(own);
  }

  /// The parts of the model's chains that run here one after the other, and a chain of its own for
  /// every other callback.
  Result<std::vector<ChainEdfPolicy::Chain>> chain_segments() const {
    std::vector<std::vector<CallbackIndex>> segments;
    for (const model::Chain& chain : model_.chains) {
      bool continues = false;
      for (const CallbackIndex callback : chain.callbacks) {
        const bool here = local_[callback.value()].has_value();
        if (here && !continues) segments.emplace_back();
        if (here) segments.back().push_back(callback);
        continues = here;
      }
    }
    for (const CallbackIndex callback : callbacks_) segments.push_back({callback});
    std::vector<ChainEdfPolicy::Chain> result;
    std::vector<const std::vector<CallbackIndex>*> kept;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const auto& segment = segments[i];
      bool contained = false;
      for (std::size_t j = 0; j < segments.size(); ++j) {
        const bool whole = j < i || segments[j].size() > segment.size();
        if (j != i && whole && !std::ranges::search(segments[j], segment).empty()) contained = true;
      }
      if (contained) continue;
      if (const auto twice = repeated(segment)) {
        return error(
            "executor \"{}\": callback \"{}\" is twice in a chain; choose edf_deadlines "
            "inherited, or the graph_aware executor",
            executor_.id, model_[*twice].id);
      }
      for (const auto* other : kept) {
        const auto shared = std::ranges::find_first_of(segment.begin() + 1, segment.end(),
                                                       other->begin(), other->end());
        const auto heads = std::ranges::find(other->begin() + 1, other->end(), segment.front());
        if (shared == segment.end() && heads == other->end()) continue;
        return error(
            "executor \"{}\": callback \"{}\" is in several chains other than as their first; "
            "chains with one instance in progress cannot share it: choose edf_deadlines "
            "inherited, or the graph_aware executor",
            executor_.id, model_[shared == segment.end() ? *heads : *shared].id);
      }
      kept.push_back(&segment);
      result.push_back(chain_edf(segment));
    }
    return result;
  }

  static std::optional<CallbackIndex> repeated(std::vector<CallbackIndex> segment) {
    std::ranges::sort(segment);
    const auto twice = std::ranges::adjacent_find(segment);
    return twice == segment.end() ? std::nullopt : std::optional(*twice);
  }

  ChainEdfPolicy::Chain chain_edf(const std::vector<CallbackIndex>& segment) const {
    ChainEdfPolicy::Chain chain;
    for (const CallbackIndex callback : segment) {
      chain.callbacks.push_back(*local_[callback.value()]);
    }
    const CallbackIndex head = segment.front();
    chain.relative_deadline =
        std::min(urgencies_.deadlines[head.value()], PolicyDescription::longest_deadline);
    if (model_[head].kind == model::CallbackKind::timer) {
      chain.period = urgencies_.periods[head.value()];
    }
    return chain;
  }

  /// Activated from outside the executor, if only sometimes.
  bool is_root(CallbackIndex callback) const {
    if (model::samples_messages(model_[callback])) return true;
    bool has_input = false;
    for (const model::Edge& edge : model_.edges) {
      if (edge.to != callback) continue;
      if (!local_[edge.from.value()]) return true;
      has_input = true;
    }
    return !has_input;
  }

  void describe_graph_aware() {
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      described_.policy.callbacks[i].is_root = is_root(callbacks_[i]);
    }
    RootOrder order = RootOrder::rate_monotonic;
    if (options_.root_order) {
      order = *options_.root_order;
    } else if (any_priority()) {
      order = RootOrder::priority;
    } else if (std::ranges::any_of(
                   callbacks_, [&](CallbackIndex c) { return model_[c].deadline.has_value(); })) {
      order = RootOrder::edf;
    }
    if (order == RootOrder::edf) {
      described_.policy.rule = Rule::root_deadline;
      set_deadlines(of_callbacks(urgencies_.deadlines));
      return;
    }
    described_.policy.rule = Rule::root_priority;
    set_priorities(order == RootOrder::priority
                       ? priorities()
                       : scheduling::rate_monotonic(of_callbacks(urgencies_.periods)));
  }

  TableOptions table_of_model() const {
    TableOptions table{.cycle = executor_.table->cycle, .slots = {}};
    for (const auto& [slot, callback] : executor_.table->entries) {
      table.slots.push_back({slot.start, slot.end, model_[callback].id});
    }
    return table;
  }

  Result<void> describe_table() {
    const auto found = options_.tables.find(executor_.id);
    if (found == options_.tables.end() && !executor_.table) {
      return error(
          "executor \"{}\" is table-driven: give its slots in the model as \"table\", or in the "
          "option \"tables\", or choose another kind",
          executor_.id);
    }
    const TableOptions table = found == options_.tables.end() ? table_of_model() : found->second;
    const std::string path = fmt::format("tables[\"{}\"]", executor_.id);
    if (table.cycle <= Duration{0}) return error("{}.cycle: must be above 0", path);
    if (table.slots.empty()) return error("{}.slots: needs at least one slot", path);
    described_.policy.rule = Rule::table;
    described_.policy.cycle = table.cycle;
    Duration end{};
    for (std::size_t i = 0; i < table.slots.size(); ++i) {
      const SlotOptions& slot = table.slots[i];
      if (slot.start < end || slot.end <= slot.start || slot.end > table.cycle) {
        return error(
            "{}.slots[{}]: [{}, {}) ns; slots come in order, do not overlap, and end within "
            "the cycle of {} ns",
            path, i, slot.start.count(), slot.end.count(), table.cycle.count());
      }
      end = slot.end;
      const auto callback = std::ranges::find_if(
          callbacks_, [&](CallbackIndex c) { return model_[c].id == slot.callback; });
      if (callback == callbacks_.end()) {
        return error("{}.slots[{}].callback: \"{}\" is no callback of this executor", path, i,
                     slot.callback);
      }
      described_.policy.slots.push_back({slot.start, slot.end, *local_[callback->value()]});
    }
    return {};
  }

  const model::Model& model_;
  model::Urgencies urgencies_;
  const model::Executor& executor_;
  std::vector<CallbackIndex> callbacks_;
  const PolicyOptions& options_;
  /// Position on the executor, by callback of the model; none: elsewhere.
  std::vector<std::optional<Local>> local_;
  DescribedPolicy described_;
};

}  // namespace

Result<DescribedPolicy> describe_policy(const model::Model& model, model::ExecutorIndex executor,
                                        model::ExecutorKind kind, const PolicyOptions& options) {
  return Describer(model, executor, options).describe(kind);
}

}  // namespace takt::plan
