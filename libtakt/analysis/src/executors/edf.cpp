// The deadline-based executor: deadlines are inherited along edges, and a chain of callbacks has
// one instance in progress (edf-executor 5).

#include <algorithm>

#include "executors/deadline_chains.hpp"
#include "executors/job_queue.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;
using Equation = Witness::Equation;
using Kind = Terms::Kind;

namespace {

class Edf final : public JobQueueExecutor {
 public:
  Edf(const Round& round, ExecutorIndex executor)
      : JobQueueExecutor(round, executor), paper_(round.options.method == Method::edf_paper) {}

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] std::optional<Reason> inapplicable(CallbackIndex callback) const override;

 private:
  [[nodiscard]] Interference interference(const Member& other,
                                          const Member& victim) const override {
    return by_deadline(other, victim);
  }
  [[nodiscard]] std::string_view name() const override { return "edf"; }
  [[nodiscard]] LocalBound own_bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] LocalBound published(const LocalBound& bound, std::span<const CallbackIndex> chain);
  /// The bound of a deadline chain does not depend on other bounds.
  [[nodiscard]] Int128 long_run_own_bound(CallbackIndex callback,
                                          const LongRunPoint& point) override;
  void renew() override;
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  /// A callback that waits, perhaps for ever, for its chain to come to it.
  [[nodiscard]] const std::optional<CallbackIndex>& outside() const {
    return executor_.description.activated_outside_chain;
  }
  void find_deadline_chains();
  [[nodiscard]] SlackSearch search() const {
    return {chains_, executor_.supply,
            paper_ ? DeadlineBlocking::paper : DeadlineBlocking::deadline_aware, horizon()};
  }

  bool paper_;
  /// The chains of which the executor keeps one instance in progress; every callback is in one of
  /// them. Empty if they share more than their first callback, or the analysis does not apply.
  std::vector<DeadlineChain> chains_;
  std::vector<SlackSearch::LeastSlack> slack_;
};

void Edf::find_deadline_chains() {
  chains_.clear();
  if (outside()) return;
  for (const scheduling::ChainEdfPolicy::Chain& local : executor_.description.policy.chains) {
    const Member& head = members_[local.callbacks.front().value()];
    if (!head.task->is_source()) {
      // The demand bound counts deadlines from the activation of the head: it must be the origin.
      chains_.clear();
      return;
    }
    DeadlineChain& chain = chains_.emplace_back();
    chain.activations = head.activations;
    chain.relative_deadline = local.relative_deadline;
    for (const scheduling::LocalIndex callback : local.callbacks) {
      const Member& each = members_[callback.value()];
      chain.callbacks.push_back({each.callback, &each.task->cost});
    }
  }
  // A callback that heads several chains is bounded by the longest.
  std::ranges::stable_sort(chains_, std::ranges::greater{},
                           [](const DeadlineChain& chain) { return chain.callbacks.size(); });
}

void Edf::renew() {
  find_deadline_chains();
  slack_.clear();
  const bool endless =
      utilisation(executor_.callbacks, executor_.supply, round_.system, round_.curves).overloaded;
  if (endless && !paper_) return;
  const auto search = endless ? std::nullopt : std::optional(this->search());
  for (const DeadlineChain& chain : chains_) {
    SlackSearch::LeastSlack& slack = slack_.emplace_back(
        search ? search->least_slack(chain)
               : SlackSearch::LeastSlack{unbounded_time, chain.relative_deadline});
    if (!paper_) continue;
    // Eq. 12: an instance that has not begun within a period is dropped.
    Duration cap = chain.activations->distance(2);
    for (const auto& [callback, cost] : chain.callbacks) cap = saturating_add(cap, (*cost)(1));
    slack.response = std::min(slack.response, cap);
  }
}

/// By the deadline chain that contains the callbacks.
LocalBound Edf::own_bound(std::span<const CallbackIndex> chain) {
  for (std::size_t j = 0; j < slack_.size(); ++j) {
    if (std::ranges::search(chains_[j].callbacks, chain, {}, &DeadlineChain::Callback::callback)
            .empty()) {
      continue;
    }
    return {slack_[j].response,
            {.by = paper_ ? "edf_paper" : "edf",
             .equation = Equation::deadline_chain,
             .offset = slack_[j].window,
             .index = j}};
  }
  return {};
}

/// With Method::edf_paper the published formula alone counts, where it applies.
LocalBound Edf::published(const LocalBound& bound, std::span<const CallbackIndex> chain) {
  if (!paper_ || bound.response == unbounded_time) return bound;
  const LocalBound own = own_bound(chain);
  return own.response == unbounded_time ? bound : own;
}

LocalBound Edf::bound(CallbackIndex callback) {
  if (outside()) return {};
  return published(JobQueueExecutor::bound(callback), std::span(&callback, 1));
}

LocalBound Edf::bound(std::span<const CallbackIndex> chain) {
  return published(JobQueueExecutor::bound(chain), chain);
}

std::optional<Reason> Edf::inapplicable(CallbackIndex) const {
  if (!outside()) return std::nullopt;
  return Reason{.text =
                    "\"{other}\" is activated otherwise than by its chain, for which executor "
                    "\"{executor}\" may let it wait without limit",
                .other = outside()};
}

Int128 Edf::long_run_own_bound(CallbackIndex callback, const LongRunPoint& point) {
  const bool known = outside() || own_bound(std::span(&callback, 1)).response != unbounded_time;
  return known ? 0 : point.most();
}

Terms Edf::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const Witness& witness = bound.witness;
  if (witness.equation != Equation::deadline_chain) return JobQueueExecutor::terms(chain, bound);
  Terms terms(round_.system);
  const Duration window = witness.offset;
  for (std::size_t j = 0; j < chains_.size(); ++j) {
    const bool own = j == witness.index;
    const std::int64_t due = SlackSearch::due(chains_[j], window);
    const std::int64_t before = due - (own ? 1 : 0);
    for (const auto& [callback, cost] : chains_[j].callbacks) {
      if (own) terms.add_cost(Kind::execution, callback, *cost, before, due);
      terms.add_cost(own ? Kind::earlier : Kind::interference, callback, *cost, 0, before);
    }
  }
  const SlackSearch search = this->search();
  const Blocking blocking = search.blocking_within(window);
  terms.add(Kind::blocking, blocking.time, blocking.callback, 1);
  terms.add(Kind::supply, search.finish(window) - terms.total());
  terms.add(Kind::elapsed, chains_[witness.index].relative_deadline - window);
  terms.add(Kind::limit, bound.response - terms.total());
  return terms;
}

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_edf(const Round& round, ExecutorIndex executor) {
  return std::make_unique<Edf>(round, executor);
}

}  // namespace takt::analysis
