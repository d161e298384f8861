#include "executors/deadline_chains.hpp"

#include <algorithm>

#include "takt/curves/least_solution.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

Duration cost_of(const DeadlineChain& chain, std::int64_t instances) {
  Duration sum{0};
  for (const auto& [callback, cost] : chain.callbacks)
    sum = saturating_add(sum, (*cost)(instances));
  return sum;
}

}  // namespace

SlackSearch::SlackSearch(std::span<const DeadlineChain> chains, const curves::SupplyBound& supply,
                         DeadlineBlocking blocking, const Limits& limits)
    : chains_(chains), supply_(supply), blocking_(blocking), limits_(limits) {
  for (const DeadlineChain& chain : chains) find_largest_blocking(chain);
  length_ = busy_window();
}

/// Eq. 7, and the largest of all (Eq. 8).
void SlackSearch::find_largest_blocking(const DeadlineChain& chain) {
  const Duration period = chain.activations->distance(2);
  const bool remainder = blocking_ == DeadlineBlocking::paper && period > Duration{0};
  for (const DeadlineChain& other : chains_) {
    if (&other == &chain) continue;
    for (const auto& [callback, cost] : other.callbacks) {
      const Duration wcet = (*cost)(1);
      largest_blocking_.take_longer(remainder ? wcet % period : wcet, callback);
    }
  }
}

Blocking SlackSearch::blocking_within(Duration window) const {
  if (blocking_ != DeadlineBlocking::deadline_aware) return largest_blocking_;
  Blocking longest;
  for (const DeadlineChain& chain : chains_) {
    if (chain.relative_deadline <= window) continue;
    for (const auto& [callback, cost] : chain.callbacks) longest.take_longer((*cost)(1), callback);
  }
  return longest;
}

std::int64_t SlackSearch::due(const DeadlineChain& chain, Duration window) {
  return chain.activations->count(window - chain.relative_deadline + epsilon);
}

Duration SlackSearch::demand(Duration window) const {
  Duration sum = blocking_within(window).time;
  for (const DeadlineChain& chain : chains_) {
    sum = saturating_add(sum, cost_of(chain, due(chain, window)));
  }
  return sum;
}

Duration SlackSearch::busy_window() const {
  return curves::least_solution(supply_, epsilon, limits_.horizon, [this](Duration x) {
    limits_.effort.spend(chains_.size());
    Duration sum = saturating_add(epsilon, largest_blocking_.time);
    for (const DeadlineChain& chain : chains_) {
      sum = saturating_add(sum, cost_of(chain, chain.activations->count(x)));
    }
    return sum;
  });
}

SlackSearch::LeastSlack SlackSearch::least_slack(const DeadlineChain& chain) const {
  const Duration deadline = chain.relative_deadline;
  if (length_ == unbounded_time) return {unbounded_time, deadline};
  LeastSlack least{.response = Duration{0}, .window = deadline};
  for (Duration window = deadline; window - deadline < length_;) {
    limits_.effort.spend(2 * chains_.size());
    const Duration response = finish(window) - (window - deadline);
    if (response > least.response) least = {response, window};
    // The next window with more demand, where some η(window - D + ε) steps.
    Duration next = unbounded_time;
    for (const DeadlineChain& other : chains_) {
      const Duration step = other.activations->next_step(
          std::max(Duration{0}, window - other.relative_deadline + epsilon));
      if (step != unbounded_time) next = std::min(next, step - epsilon + other.relative_deadline);
    }
    if (next == unbounded_time) break;
    window = next;
  }
  return least;
}

}  // namespace takt::analysis
