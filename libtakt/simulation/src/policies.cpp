#include "policies.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "takt/model/names.hpp"
#include "takt/scheduling/chain_edf.hpp"
#include "takt/scheduling/events.hpp"
#include "takt/scheduling/graph_aware.hpp"
#include "takt/scheduling/table_driven.hpp"
#include "takt/scheduling/wait_set.hpp"

namespace takt::simulation {

using scheduling::Policy;
using Local = scheduling::CallbackIndex;

namespace {

/// Waiting instances for which a policy has memory from the start.
constexpr std::size_t capacity = 64;

scheduling::Category category(model::CallbackKind kind) {
  switch (kind) {
    case model::CallbackKind::timer:
    case model::CallbackKind::event_source:
      return scheduling::Category::timer;
    case model::CallbackKind::subscription:
      return scheduling::Category::subscription;
    case model::CallbackKind::service:
      return scheduling::Category::service;
    case model::CallbackKind::client:
      return scheduling::Category::client;
    case model::CallbackKind::waitable:
      break;
  }
  return scheduling::Category::waitable;
}

class Factory {
 public:
  Factory(const model::Model& model, const Network& network, const model::Urgencies& urgencies,
          ExecutorIndex executor, std::span<const CallbackIndex> callbacks, const Options& options)
      : model_(model),
        network_(network),
        urgencies_(urgencies),
        executor_(model[executor]),
        callbacks_(callbacks),
        options_(options),
        local_(model.callbacks.size()) {
    for (std::size_t i = 0; i < callbacks.size(); ++i) local_[callbacks[i].value()] = Local(i);
  }

  Result<ChosenPolicy> make(model::ExecutorKind kind) {
    switch (kind) {
      case model::ExecutorKind::single_threaded:
      case model::ExecutorKind::multi_threaded:
        return chosen(wait_set());
      case model::ExecutorKind::events:
      case model::ExecutorKind::event_source:
        return chosen(std::make_unique<scheduling::FifoPolicy>(callbacks_.size(), capacity));
      case model::ExecutorKind::fixed_priority:
        return chosen(fixed_priority());
      case model::ExecutorKind::chain_priority:
        return chosen(chain_priority());
      case model::ExecutorKind::edf:
        return edf();
      case model::ExecutorKind::graph_aware:
        return chosen(graph_aware());
      case model::ExecutorKind::table_driven:
        break;
    }
    return table_driven();
  }

 private:
  static ChosenPolicy chosen(std::unique_ptr<Policy> policy) {
    return {.policy = std::move(policy), .own_origin = false};
  }

  template <typename Value>
  std::vector<Value> of_callbacks(const std::vector<Value>& values) const {
    std::vector<Value> result;
    for (const CallbackIndex callback : callbacks_) result.push_back(values[callback.value()]);
    return result;
  }

  std::unique_ptr<Policy> wait_set() const {
    std::vector<scheduling::Category> categories;
    for (const CallbackIndex callback : callbacks_) {
      categories.push_back(category(model_[callback].kind));
    }
    const auto timers = executor_.timers == model::TimerHandling::privileged
                            ? scheduling::TimerHandling::privileged
                            : scheduling::TimerHandling::polled;
    return std::make_unique<scheduling::WaitSetPolicy>(categories, timers);
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
      result.push_back(priority.value_or(std::numeric_limits<std::int64_t>::min() + 1));
    }
    return result;
  }

  std::unique_ptr<Policy> fixed_priority() const {
    return std::make_unique<scheduling::FixedPriorityPolicy>(priorities(), capacity);
  }

  std::unique_ptr<Policy> chain_priority() const {
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
    return std::make_unique<scheduling::FixedPriorityPolicy>(
        scheduling::chain_priorities(chains, callbacks_.size()), capacity);
  }

  Result<ChosenPolicy> edf() const {
    EdfDeadlines deadlines = EdfDeadlines::inherited;
    const auto chains = chain_segments();
    if (options_.edf_deadlines) {
      deadlines = *options_.edf_deadlines;
    } else if (chains) {
      deadlines = EdfDeadlines::per_instance;
    }
    if (deadlines == EdfDeadlines::inherited) {
      return chosen(
          std::make_unique<scheduling::EdfPolicy>(of_callbacks(urgencies_.deadlines), capacity));
    }
    if (deadlines == EdfDeadlines::per_callback) {
      std::vector<Duration> own;
      for (const CallbackIndex callback : callbacks_) {
        own.push_back(model_[callback].deadline.value_or(urgencies_.periods[callback.value()]));
      }
      return ChosenPolicy{.policy = std::make_unique<scheduling::EdfPolicy>(own, capacity),
                          .own_origin = true};
    }
    if (!chains) return tl::unexpected(chains.error());
    const auto rule = deadlines == EdfDeadlines::per_instance
                          ? scheduling::DeadlineRule::per_instance
                          : scheduling::DeadlineRule::frozen_at_completion;
    return chosen(
        std::make_unique<scheduling::ChainEdfPolicy>(callbacks_.size(), *chains, rule, capacity));
  }

  /// The parts of the model's chains that run here one after the other, and a chain of its own for
  /// every other callback.
  Result<std::vector<scheduling::ChainEdfPolicy::Chain>> chain_segments() const {
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
    std::vector<scheduling::ChainEdfPolicy::Chain> result;
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

  scheduling::ChainEdfPolicy::Chain chain_edf(const std::vector<CallbackIndex>& segment) const {
    scheduling::ChainEdfPolicy::Chain chain;
    for (const CallbackIndex callback : segment) {
      chain.callbacks.push_back(*local_[callback.value()]);
    }
    const CallbackIndex head = segment.front();
    chain.relative_deadline = urgencies_.deadlines[head.value()];
    if (model_[head].kind == model::CallbackKind::timer) {
      chain.period = urgencies_.periods[head.value()];
    }
    return chain;
  }

  /// Activated from outside the executor, if only sometimes.
  bool is_root(CallbackIndex callback) const {
    if (network_.stations[callback.value()].source) return true;
    return std::ranges::any_of(network_.links, [&](const Link& link) {
      return link.to == callback && !local_[link.from.value()];
    });
  }

  std::unique_ptr<Policy> graph_aware() const {
    RootOrder order = RootOrder::rate_monotonic;
    if (options_.root_order) {
      order = *options_.root_order;
    } else if (any_priority()) {
      order = RootOrder::priority;
    } else if (std::ranges::any_of(
                   callbacks_, [&](CallbackIndex c) { return model_[c].deadline.has_value(); })) {
      order = RootOrder::edf;
    }
    using scheduling::GraphAwarePolicy;
    if (order == RootOrder::edf) {
      std::vector<std::optional<Duration>> deadlines;
      for (const CallbackIndex callback : callbacks_) {
        deadlines.push_back(is_root(callback)
                                ? std::optional(urgencies_.deadlines[callback.value()])
                                : std::nullopt);
      }
      return std::unique_ptr<Policy>(
          new GraphAwarePolicy(GraphAwarePolicy::edf(deadlines, capacity)));
    }
    const std::vector<std::int64_t> values =
        order == RootOrder::priority ? priorities()
                                     : scheduling::rate_monotonic(of_callbacks(urgencies_.periods));
    std::vector<std::optional<std::int64_t>> roots;
    for (std::size_t i = 0; i < callbacks_.size(); ++i) {
      roots.push_back(is_root(callbacks_[i]) ? std::optional(values[i]) : std::nullopt);
    }
    return std::unique_ptr<Policy>(
        new GraphAwarePolicy(GraphAwarePolicy::fixed_priority(roots, capacity)));
  }

  Result<ChosenPolicy> table_driven() const {
    const auto found = options_.tables.find(executor_.id);
    if (found == options_.tables.end()) {
      return error(
          "executor \"{}\" is table-driven: give its slots in the option \"tables\", or "
          "choose another kind",
          executor_.id);
    }
    const TableOptions& table = found->second;
    const std::string path = fmt::format("tables[\"{}\"]", executor_.id);
    if (table.cycle <= Duration{0}) return error("{}.cycle: must be above 0", path);
    if (table.slots.empty()) return error("{}.slots: needs at least one slot", path);
    std::vector<scheduling::TableDrivenPolicy::Slot> slots;
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
      slots.push_back({slot.start, slot.end, *local_[callback->value()]});
    }
    return chosen(
        std::make_unique<scheduling::TableDrivenPolicy>(callbacks_.size(), slots, table.cycle));
  }

  const model::Model& model_;
  const Network& network_;
  const model::Urgencies& urgencies_;
  const model::Executor& executor_;
  std::span<const CallbackIndex> callbacks_;
  const Options& options_;
  /// Position on the executor, by callback of the model; none: elsewhere.
  std::vector<std::optional<Local>> local_;
};

}  // namespace

Result<ChosenPolicy> make_policy(const model::Model& model, const Network& network,
                                 const model::Urgencies& urgencies, ExecutorIndex executor,
                                 model::ExecutorKind kind, std::span<const CallbackIndex> callbacks,
                                 const Options& options) {
  return Factory(model, network, urgencies, executor, callbacks, options).make(kind);
}

}  // namespace takt::simulation
