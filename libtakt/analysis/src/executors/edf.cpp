// The deadline-based executor: deadlines are inherited along edges, and a chain of callbacks has
// one instance in progress (edf-executor 2 and 5).

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
  void search_slack();
  [[nodiscard]] SlackSearch search() const {
    return {chains_, executor_.supply_from_quiet, DeadlineBlocking::paper, limits()};
  }

  /// A callback's place in the deadline chain that bounds it.
  struct Place {
    std::size_t chain = 0;
    std::size_t position = 0;
  };
  /// The place of the last callback, if these callbacks follow each other in its deadline chain.
  [[nodiscard]] std::optional<Place> place_of(std::span<const CallbackIndex> callbacks) const;
  /// The busy windows in which an instance of a deadline chain runs, up to the callback at `place`.
  [[nodiscard]] BusyWindow deadline_window(const Place& place) const;
  [[nodiscard]] LocalBound window_bound(const Place& place);

  bool paper_;
  /// The chains with one instance in progress; every callback of the executor is in one of them.
  /// Empty if they share more than their first callback, or if the analysis does not apply.
  std::vector<DeadlineChain> chains_;
  /// By rank.
  std::vector<Place> places_;
  /// The bounds found in this round, by rank.
  std::vector<std::optional<LocalBound>> found_;
  /// The longest length of these windows; unbounded_time if nothing limits it.
  Duration longest_window_{};
  /// The least slack of each chain, for Method::edf_paper.
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
  places_.assign(members_.size(), {});
  for (std::size_t j = chains_.size(); j-- > 0;) {
    for (std::size_t position = 0; position < chains_[j].callbacks.size(); ++position) {
      places_[round_.system[chains_[j].callbacks[position].callback].rank] = {j, position};
    }
  }
}

void Edf::renew() {
  find_deadline_chains();
  found_.assign(members_.size(), std::nullopt);
  longest_window_ = unbounded_time;
  if (paper_) return search_slack();
  const bool endless =
      utilisation(executor_.callbacks, executor_.supply, round_.system, round_.curves).overloaded;
  if (endless || chains_.empty()) return;
  // Chains with the shortest deadline are blocked longest.
  const auto shortest = std::ranges::min_element(chains_, {}, &DeadlineChain::relative_deadline);
  longest_window_ =
      deadline_window({static_cast<std::size_t>(shortest - chains_.begin()), 0}).length();
}

void Edf::search_slack() {
  slack_.clear();
  const bool endless =
      utilisation(executor_.callbacks, executor_.supply, round_.system, round_.curves).overloaded;
  const auto search = endless ? std::nullopt : std::optional(this->search());
  for (const DeadlineChain& chain : chains_) {
    SlackSearch::LeastSlack& slack = slack_.emplace_back(
        search ? search->least_slack(chain)
               : SlackSearch::LeastSlack{unbounded_time, chain.relative_deadline});
    // Eq. 12: an instance that has not begun within a period is dropped.
    Duration cap = chain.activations->distance(2);
    for (const auto& [callback, cost] : chain.callbacks) cap = saturating_add(cap, (*cost)(1));
    slack.response = std::min(slack.response, cap);
  }
}

std::optional<Edf::Place> Edf::place_of(std::span<const CallbackIndex> callbacks) const {
  if (chains_.empty()) return std::nullopt;
  const Place last = places_[round_.system[callbacks.back()].rank];
  if (last.position + 1 < callbacks.size()) return std::nullopt;
  const auto part = std::span(chains_[last.chain].callbacks)
                        .subspan(last.position + 1 - callbacks.size(), callbacks.size());
  const bool follow = std::ranges::equal(part, callbacks, {}, &DeadlineChain::Callback::callback);
  return follow ? std::optional(last) : std::nullopt;
}

/// All callbacks of an instance share its deadline, so an instance of another chain with relative
/// deadline D_j goes before one with D_i unless its head is activated D_i - D_j + ε after the
/// other's head, or later; instances of the own chain up to this one go before. The window begins
/// when nothing that is due by the instance's deadline waits. One callback that is due later may
/// then have begun: for an instance at offset t, one of a chain with D_j > t + D_i. From
/// t = D_j - D_i on, one instance of that chain counts among those that go before, so the sum does
/// not decrease with t.
BusyWindow Edf::deadline_window(const Place& place) const {
  const DeadlineChain& chain = chains_[place.chain];
  const Member& head = member(chain.callbacks.front().callback);
  const Interferer self{chain.callbacks[place.position].callback,
                        chain.callbacks[place.position].cost, chain.activations};
  std::vector<bool> counted(members_.size());
  std::vector<Interferer> others;
  Blockers blockers;
  for (std::size_t k = 0; k < chain.callbacks.size(); ++k) {
    const auto& [callback, cost] = chain.callbacks[k];
    counted[round_.system[callback].rank] = true;
    if (k == place.position) continue;
    const Interferer::Limit limit{.reach = epsilon, .extra = k < place.position ? 0 : -1};
    others.push_back({callback, cost, chain.activations, limit});
  }
  for (const DeadlineChain& other : chains_) {
    const Duration later = other.relative_deadline - chain.relative_deadline;
    for (const auto& [callback, cost] : other.callbacks) {
      const std::size_t rank = round_.system[callback].rank;
      // A head that several chains share runs once for all of them.
      if (counted[rank]) continue;
      counted[rank] = true;
      const Interferer::Limit limit{.reach = std::min(epsilon - later, curves::longest_time),
                                    .extra = 0};
      others.push_back({callback, cost, other.activations, limit});
      blockers.add({blocking(members_[rank], head), callback}, later);
    }
  }
  return {executor_.supply_from_quiet, limits(),        self, std::move(others),
          std::move(blockers),         before_decision_};
}

LocalBound Edf::window_bound(const Place& place) {
  if (longest_window_ == unbounded_time) return {};
  LocalBound bound = witnessed(name(), Equation::deadline_window,
                               deadline_window(place).longest_response(longest_window_));
  bound.witness.index = place.chain;
  return bound;
}

/// The bound by the deadline chain that contains the callbacks.
LocalBound Edf::own_bound(std::span<const CallbackIndex> chain) {
  const std::optional<Place> place = place_of(chain);
  if (!place) return {};
  if (paper_) {
    return {slack_[place->chain].response,
            {.by = "edf_paper",
             .equation = Equation::deadline_chain,
             .offset = slack_[place->chain].window,
             .index = place->chain}};
  }
  auto& found = found_[round_.system[chain.back()].rank];
  if (!found) found = window_bound(*place);
  return *found;
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

Int128 Edf::long_run_own_bound(CallbackIndex callback, const LongRunPoint&) {
  const bool known = outside() || own_bound(std::span(&callback, 1)).response != unbounded_time;
  return known ? 0 : LongRunPoint::most();
}

Terms Edf::terms(std::span<const CallbackIndex> chain, const LocalBound& bound) const {
  const Witness& witness = bound.witness;
  if (witness.equation == Equation::deadline_window) {
    const Place place = place_of(chain).value();
    std::vector<CallbackIndex> before;
    for (std::size_t k = 0; k < place.position; ++k) {
      before.push_back(chains_[place.chain].callbacks[k].callback);
    }
    return terms_of_instance(deadline_window(place), witness, witness.offset, before);
  }
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
