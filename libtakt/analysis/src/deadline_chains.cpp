#include "deadline_chains.hpp"

#include <algorithm>

#include "least_solution.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::unbounded_time;

namespace {

Duration cost_of(const DeadlineChain& chain, std::int64_t instances) {
  Duration sum{0};
  for (const Cost* cost : chain.callbacks) sum = saturating_add(sum, (*cost)(instances));
  return sum;
}

/// A callback that has begun, and what is left of it.
struct Blocker {
  Duration time{0};
  const Cost* cost = nullptr;

  void take_longer(Duration other_time, const Cost* other) {
    if (other_time > time) *this = {other_time, other};
  }
};

class SlackSearch {
 public:
  SlackSearch(std::span<const DeadlineChain> chains, const curves::SupplyBound& supply,
              Blocking blocking, Duration horizon)
      : chains_(chains), supply_(supply), blocking_(blocking), horizon_(horizon) {
    for (std::size_t j = 0; j < chains.size(); ++j) {
      find_blocking_of(j);
    }
  }

  Duration response(std::size_t chain) const { return search(chain).longest; }

  LeastSlack least_slack(std::size_t chain) const {
    const Duration window = search(chain).window;
    const Blocker blocker = blocking_within(window);
    LeastSlack slack{.finish = supply_.time_for(demand(window)),
                     .elapsed = window - chains_[chain].relative_deadline,
                     .due = {},
                     .blocking = blocker.time,
                     .blocker = blocker.cost};
    for (const DeadlineChain& other : chains_) slack.due.push_back(due(other, window));
    return slack;
  }

 private:
  struct Found {
    Duration longest{0};
    Duration window{0};
  };

  Found search(std::size_t chain) const {
    const Duration length = busy_window();
    const DeadlineChain& self = chains_[chain];
    if (length == unbounded_time) return {unbounded_time, self.relative_deadline};
    Found found{.longest = Duration{0}, .window = self.relative_deadline};
    for (Duration window = self.relative_deadline; window - self.relative_deadline < length;) {
      const Duration finish = supply_.time_for(demand(window));
      const Duration response = finish - (window - self.relative_deadline);
      if (response > found.longest) found = {response, window};
      Duration next = unbounded_time;
      for (const DeadlineChain& other : chains_) {
        // A deadline after the window: where η(window - D + ε) steps.
        const Duration step = other.activations->next_step(
            std::max(Duration{0}, window - other.relative_deadline + epsilon));
        if (step != unbounded_time) {
          next = std::min(next, step - epsilon + other.relative_deadline);
        }
      }
      if (next == unbounded_time) break;
      window = next;
    }
    return found;
  }

  /// Eq. 7, and the largest of all (Eq. 8).
  void find_blocking_of(std::size_t chain) {
    const Duration period = chains_[chain].activations->distance(2);
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (i == chain) continue;
      for (const Cost* cost : chains_[i].callbacks) {
        const Duration wcet = (*cost)(1);
        const bool remainder = blocking_ == Blocking::paper && period > Duration{0};
        largest_blocking_.take_longer(remainder ? wcet % period : wcet, cost);
      }
    }
  }

  Blocker blocking_within(Duration window) const {
    if (blocking_ != Blocking::deadline_aware) return largest_blocking_;
    Blocker longest;
    for (const DeadlineChain& chain : chains_) {
      if (chain.relative_deadline <= window) continue;
      for (const Cost* cost : chain.callbacks) longest.take_longer((*cost)(1), cost);
    }
    return longest;
  }

  static std::int64_t due(const DeadlineChain& chain, Duration window) {
    return chain.activations->count(window - chain.relative_deadline + epsilon);
  }

  /// Eq. 9.
  Duration demand(Duration window) const {
    Duration sum = blocking_within(window).time;
    for (const DeadlineChain& chain : chains_) {
      sum = saturating_add(sum, cost_of(chain, due(chain, window)));
    }
    return sum;
  }

  Duration busy_window() const {
    return least_solution(supply_, epsilon, horizon_, [this](Duration x) {
      Duration sum = saturating_add(epsilon, largest_blocking_.time);
      for (const DeadlineChain& chain : chains_) {
        sum = saturating_add(sum, cost_of(chain, chain.activations->count(x)));
      }
      return sum;
    });
  }

  std::span<const DeadlineChain> chains_;
  const curves::SupplyBound& supply_;
  Blocking blocking_;
  Duration horizon_;
  Blocker largest_blocking_;
};

}  // namespace

std::vector<Duration> chain_responses(std::span<const DeadlineChain> chains,
                                      const curves::SupplyBound& supply, Blocking blocking,
                                      Duration horizon) {
  const SlackSearch search(chains, supply, blocking, horizon);
  std::vector<Duration> responses;
  for (std::size_t j = 0; j < chains.size(); ++j) responses.push_back(search.response(j));
  return responses;
}

LeastSlack least_slack(std::span<const DeadlineChain> chains, std::size_t chain,
                       const curves::SupplyBound& supply, Blocking blocking, Duration horizon) {
  return SlackSearch(chains, supply, blocking, horizon).least_slack(chain);
}

}  // namespace takt::analysis
