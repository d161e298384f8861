// Fixed priorities (component-cps 3.7): those of the model or, if it has none, rate-monotonic ones
// (fixed_priority); or those that PiCAS assigns by the ranks of chains (chain_priority,
// edf-executor 1.2).

#include <algorithm>
#include <utility>

#include "executors/job_queue.hpp"
#include "executors/link.hpp"

namespace takt::analysis {

using Equation = Witness::Equation;

JobQueueExecutor::Interference PriorityExecutor::by_priority(const Member& other,
                                                             const Member& victim, Ties ties) {
  const policy::Urgency& theirs = other.task->urgency;
  const policy::Urgency& ours = victim.task->urgency;
  Interference result{.blocks = theirs.least_priority < ours.greatest_priority,
                      .precedes = theirs.greatest_priority >= ours.least_priority};
  const bool equal = theirs.greatest_priority == ours.least_priority && !result.blocks;
  if (equal && ties == Ties::first_activated) result.limit = until_victim;
  return result;
}

BusyWindow PriorityExecutor::chain_window(std::span<const CallbackIndex> chain) const {
  const auto priority = [&](CallbackIndex c) { return round_.system[c].urgency.least_priority; };
  const std::int64_t level = priority(std::ranges::min(chain, {}, priority));
  const Member& head = member(chain.front());
  Blocking longest;
  std::vector<Interferer> interferers;
  for (const Member& other : members_) {
    const policy::Urgency& urgency = other.task->urgency;
    if (urgency.least_priority < level) longest.take_longer(blocking(other, head), other.callback);
    if (urgency.greatest_priority < level) continue;
    interferers.push_back(interferer(other, Window::level));
  }
  const Interferer self = interferers.back();
  interferers.pop_back();
  return {executor_.supply_from_quiet, limits(), self, std::move(interferers), Blockers(longest)};
}

LocalBound PriorityExecutor::own_bound(std::span<const CallbackIndex> chain) {
  if (chain.size() == 1) return {};
  const BusyWindow window = chain_window(chain);
  if (!ends(window)) return {};
  const Duration length = window.length();
  return {length, {.by = name(), .equation = Equation::level_length, .start = length}};
}

Terms PriorityExecutor::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  if (bound.witness.equation == Equation::level_length) {
    return terms_of_length(chain_window(chain), bound.witness.start, chain.back());
  }
  return JobQueueExecutor::terms(chain, bound);
}

namespace {

class FixedPriority final : public PriorityExecutor {
 public:
  FixedPriority(const Round& round, ExecutorIndex executor, std::string_view name)
      : PriorityExecutor(round, executor), name_(name) {}

 private:
  [[nodiscard]] Interference interference(const Member& other,
                                          const Member& victim) const override {
    return by_priority(other, victim, Ties::first_activated);
  }
  [[nodiscard]] std::string_view name() const override { return name_; }

  std::string_view name_;
};

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_fixed_priority(const Round& round, ExecutorIndex executor) {
  if (round.system.executors[executor.value()].longest_piece > Duration{0}) {
    return make_link(round, executor);
  }
  return std::make_unique<FixedPriority>(round, executor, "fixed_priority");
}

std::unique_ptr<ExecutorAnalysis> make_chain_priority(const Round& round, ExecutorIndex executor) {
  return std::make_unique<FixedPriority>(round, executor, "chain_priority");
}

}  // namespace takt::analysis
