#include "queue_executor.hpp"

#include <algorithm>
#include <utility>

#include "release_overhead.hpp"
#include "utilisation.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;
using model::ExecutorKind;

namespace {

/// The longest time from the origin of an instance, the activation of its source, to its own
/// activation.
Duration longest_since_origin(const DerivedCurve& activations) {
  if (activations.unbounded()) return unbounded_time;
  Duration longest{0};
  for (const auto& [source, shift, multiplicity] : activations.terms()) {
    Duration before{0};
    if (source->join != nullptr) {
      for (const DerivedCurve& operand : source->join->operands) {
        before = std::max(before, longest_since_origin(operand));
      }
    }
    longest = std::max(longest, saturating_add(shift, before));
  }
  return longest;
}

}  // namespace

QueueExecutor::QueueExecutor(const Round& round, ExecutorIndex executor)
    : ExecutorAnalysis(round, executor) {
  if (executor_.release_overhead == Duration{0}) return;
  for (Member& member : members_) tasks_with_releases_.push_back(*member.task);
  releases_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].task = &tasks_with_releases_[i];
}

void QueueExecutor::begin_round() {
  ExecutorAnalysis::begin_round();
  follow_releases();
  find_deadline_chain_responses();
}

void QueueExecutor::follow_releases() {
  bool changed = false;
  for (std::size_t i = 0; i < releases_.size(); ++i) {
    const CallbackIndex callback = members_[i].callback;
    const Task& task = round_.system[callback];
    const Duration releases = release_overhead(round_, task.executor, callback);
    if (releases == releases_[i]) continue;
    releases_[i] = releases;
    changed = true;
    endless_releases_ = endless_releases_ || releases == unbounded_time;
    if (releases != unbounded_time) tasks_with_releases_[i].cost = task.cost.plus(releases);
  }
  if (!changed) return;
  ExecutorAnalysis::begin_round();
  find_deadline_chain_responses();
}

void QueueExecutor::find_deadline_chain_responses() {
  deadline_chain_responses_.clear();
  const bool endless =
      utilisation(executor_.callbacks, executor_.supply, round_.system, round_.curves).overloaded;
  const bool paper = round_.options.method == Method::edf_paper;
  if (executor_.activated_outside_chain || (endless && !paper)) return;
  const std::vector<DeadlineChain> chains = deadline_chains();
  deadline_chain_responses_ =
      endless ? std::vector(chains.size(), unbounded_time)
              : chain_responses(chains, executor_.supply,
                                paper ? Blocking::paper : Blocking::deadline_aware, horizon());
  if (!paper) return;
  // Eq. 12: an instance that has not begun within a period is dropped.
  for (std::size_t j = 0; j < chains.size(); ++j) {
    Duration cap = chains[j].activations->distance(2);
    for (const Cost* cost : chains[j].callbacks) cap = saturating_add(cap, (*cost)(1));
    deadline_chain_responses_[j] = std::min(deadline_chain_responses_[j], cap);
  }
}

std::vector<DeadlineChain> QueueExecutor::deadline_chains() const {
  std::vector<DeadlineChain> chains;
  for (const auto& callbacks : executor_.deadline_chains) {
    const Member& head = members_[round_.system[callbacks.front()].rank];
    // The demand bound counts deadlines from the activation of the head: it must be the origin.
    if (!head.task->given) return {};
    auto& chain = chains.emplace_back();
    chain.activations = head.activations;
    chain.relative_deadline = head.task->urgency.longest_deadline;
    for (const CallbackIndex callback : callbacks) {
      chain.callbacks.push_back(&members_[round_.system[callback].rank].task->cost);
    }
  }
  return chains;
}

Duration QueueExecutor::deadline_chain_response(std::span<const CallbackIndex> callbacks) const {
  for (std::size_t j = 0; j < deadline_chain_responses_.size(); ++j) {
    if (!std::ranges::search(executor_.deadline_chains[j], callbacks).empty()) {
      return deadline_chain_responses_[j];
    }
  }
  return unbounded_time;
}

std::string_view QueueExecutor::name() const {
  switch (executor_.kind) {
    case ExecutorKind::events:
      return "fifo";
    case ExecutorKind::chain_priority:
      return "chain_priority";
    case ExecutorKind::graph_aware:
      return executor_.by_deadline ? "graph_aware_edf" : "graph_aware";
    case ExecutorKind::edf:
      return "edf";
    default:
      return "fixed_priority";
  }
}

QueueExecutor::Interference QueueExecutor::interference(const Member& other,
                                                        const Member& victim) const {
  // Of equals, those that arrived no later than the victim go first; in the graph-aware executor
  // equals may go first whenever they arrive.
  const Interferer::Limit until_victim{.reach = epsilon, .extra = 0};
  const bool graph_aware = executor_.kind == ExecutorKind::graph_aware;
  if (executor_.kind == ExecutorKind::events) {
    return {.blocks = false, .precedes = true, .limit = until_victim};
  }
  const Urgency& theirs = other.task->urgency;
  const Urgency& ours = victim.task->urgency;
  if (!executor_.by_deadline) {
    Interference result{.blocks = theirs.least_priority < ours.greatest_priority,
                        .precedes = theirs.greatest_priority >= ours.least_priority,
                        .limit = std::nullopt};
    const bool equal = theirs.greatest_priority == ours.least_priority && !result.blocks;
    if (equal && !graph_aware) result.limit = until_victim;
    return result;
  }
  // The victim's deadline is at most D_i after its activation. Theirs is at least D_j - J_j after
  // the activation, if that is at most J_j after the origin: an instance activated later than
  // D_i - D_j + J_j after the victim does not precede it.
  const Duration since_origin = longest_since_origin(*other.activations);
  const Duration own_since_origin = longest_since_origin(*victim.activations);
  if (since_origin == unbounded_time || own_since_origin == unbounded_time ||
      theirs.longest_deadline == Duration::max() || ours.longest_deadline == Duration::max()) {
    return {.blocks = true, .precedes = true, .limit = std::nullopt};
  }
  const Duration reach = ours.longest_deadline - theirs.shortest_deadline + since_origin + epsilon;
  return {.blocks = theirs.longest_deadline > ours.shortest_deadline - own_since_origin,
          .precedes = true,
          .limit = Interferer::Limit{.reach = reach, .extra = 0}};
}

BusyWindow QueueExecutor::window_of_all() const {
  std::vector<Interferer> others;
  for (std::size_t i = 1; i < members_.size(); ++i) others.push_back(busy_interferer(members_[i]));
  return {executor_.supply, horizon(), Duration{0}, busy_interferer(members_.front()),
          std::move(others)};
}

BusyWindow QueueExecutor::executor_window(const Member& victim) const {
  std::vector<Interferer> others;
  for (const Member& other : members_) {
    if (&other == &victim && !victim.task->urgency.overtakes) continue;
    Interferer interferer = busy_interferer(other);
    const Interference how = interference(other, victim);
    // What was selected before the victim was activated was activated before it too, or at the same
    // instant if it activates the victim as it starts.
    if (&other == &victim) {
      interferer.limit = std::nullopt;
    } else if (!how.precedes) {
      interferer.limit = {.reach = victim.task->given ? Duration{0} : epsilon, .extra = 0};
    } else if (how.limit) {
      interferer.limit = {.reach = std::max(epsilon, how.limit->reach), .extra = how.limit->extra};
    }
    others.push_back(interferer);
  }
  return {executor_.supply, horizon(), Duration{0}, busy_interferer(victim), std::move(others)};
}

std::optional<QueueExecutor::LevelWindow> QueueExecutor::level_window(const Member& victim) const {
  Duration longest_blocking{0};
  std::optional<CallbackIndex> blocker;
  std::vector<Interferer> others;
  std::vector<CallbackIndex> level{victim.callback};
  for (const Member& other : members_) {
    const Interferer interferer{&other.task->cost, other.activations, std::nullopt};
    if (&other == &victim) {
      if (victim.task->urgency.overtakes) others.push_back(interferer);
      continue;
    }
    const Interference how = interference(other, victim);
    const Duration time = how.blocks || !how.precedes ? blocking(other, victim) : Duration{0};
    if (time > longest_blocking) {
      longest_blocking = time;
      blocker = other.callback;
    }
    if (!how.precedes) continue;
    others.push_back(interferer);
    others.back().limit = how.limit;
    level.push_back(other.callback);
  }
  if (utilisation(level, executor_.supply, round_.system, round_.curves).overloaded) {
    return std::nullopt;
  }
  const Interferer self{&victim.task->cost, victim.activations, std::nullopt};
  return LevelWindow{{executor_.supply, horizon(), longest_blocking, self, std::move(others)},
                     blocker};
}

LocalBound QueueExecutor::bound(CallbackIndex callback) {
  // Messages that take time within the executor come of bounds that may just have changed.
  follow_releases();
  const Member& victim = members_[round_.system[callback].rank];
  if (victim.activations->unbounded() || executor_.activated_outside_chain || endless_releases_) {
    return {};
  }
  const Duration of_chain = deadline_chain_response(std::span(&callback, 1));
  if (of_chain != unbounded_time && round_.options.method == Method::edf_paper) {
    return {.response = of_chain, .by = "edf_paper"};
  }
  Duration response = of_chain;
  if (busy_window_length() != unbounded_time) {
    response = std::min(response, executor_window(victim).longest_response(busy_window_length()));
  }
  if (auto level = level_window(victim)) {
    response = std::min(response, level->window.longest_response(level->window.length()));
  }
  response = std::min(response, tree_response(std::span(&callback, 1)));
  return {.response = response, .by = name()};
}

std::optional<QueueExecutor::LevelWindow> QueueExecutor::chain_window(
    std::span<const CallbackIndex> chain) const {
  // From the chain's activation to its completion one of its callbacks waits or runs (Lemma 7): all
  // that runs meanwhile may precede it, but for one blocking instance.
  const auto least = std::ranges::min(
      chain, {}, [&](CallbackIndex c) { return round_.system[c].urgency.least_priority; });
  const std::int64_t level = round_.system[least].urgency.least_priority;
  const Member& head = members_[round_.system[chain.front()].rank];
  Duration longest_blocking{0};
  std::optional<CallbackIndex> blocker;
  std::vector<Interferer> interferers;
  std::vector<CallbackIndex> callbacks;
  for (const Member& member : members_) {
    const Urgency& urgency = member.task->urgency;
    const Duration time = urgency.least_priority < level ? blocking(member, head) : Duration{0};
    if (time > longest_blocking) {
      longest_blocking = time;
      blocker = member.callback;
    }
    if (urgency.greatest_priority < level) continue;
    interferers.push_back({&member.task->cost, member.activations, std::nullopt});
    callbacks.push_back(member.callback);
  }
  if (utilisation(callbacks, executor_.supply, round_.system, round_.curves).overloaded) {
    return std::nullopt;
  }
  const Interferer first = interferers.back();
  interferers.pop_back();
  return LevelWindow{{executor_.supply, horizon(), longest_blocking, first, std::move(interferers)},
                     blocker};
}

LocalBound QueueExecutor::bound(std::span<const CallbackIndex> chain) {
  for (const CallbackIndex callback : chain) {
    if (round_.response[callback.value()] == unbounded_time) return {};
  }
  const Duration of_chain = deadline_chain_response(chain);
  if (of_chain != unbounded_time && round_.options.method == Method::edf_paper) {
    return {.response = of_chain, .by = "edf_paper"};
  }
  LocalBound best = sum_of_callbacks(chain);
  const auto take = [&](Duration response) {
    if (response < best.response) best = {.response = response, .by = name()};
  };
  take(of_chain);
  take(tree_response(chain));
  take(busy_window_length());
  if (!executor_.by_deadline && executor_.kind != ExecutorKind::events) {
    if (const auto level = chain_window(chain)) take(level->window.length());
  }
  return best;
}

}  // namespace takt::analysis
