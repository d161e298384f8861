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

Duration longest_callback(const DeadlineChain& chain) {
  Duration longest{0};
  for (const Cost* cost : chain.callbacks) longest = std::max(longest, (*cost)(1));
  return longest;
}

class SlackSearch {
 public:
  SlackSearch(std::span<const DeadlineChain> chains, const curves::SupplyBound& supply,
              Blocking blocking, Duration horizon)
      : chains_(chains), supply_(supply), blocking_(blocking), horizon_(horizon) {
    for (std::size_t j = 0; j < chains.size(); ++j) {
      largest_blocking_ = std::max(largest_blocking_, blocking_of(j));
    }
  }

  Duration response(std::size_t chain) const {
    const Duration length = busy_window();
    if (length == unbounded_time) return length;
    const DeadlineChain& self = chains_[chain];
    Duration longest{0};
    for (Duration window = self.relative_deadline; window - self.relative_deadline < length;) {
      const Duration finish = supply_.time_for(demand(window));
      longest = std::max(longest, finish - (window - self.relative_deadline));
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
    return longest;
  }

 private:
  /// Eq. 7.
  Duration blocking_of(std::size_t chain) const {
    const Duration period = chains_[chain].activations->distance(2);
    Duration longest{0};
    for (std::size_t i = 0; i < chains_.size(); ++i) {
      if (i == chain) continue;
      for (const Cost* cost : chains_[i].callbacks) {
        const Duration wcet = (*cost)(1);
        const bool remainder = blocking_ == Blocking::paper && period > Duration{0};
        longest = std::max(longest, remainder ? wcet % period : wcet);
      }
    }
    return longest;
  }

  /// Eq. 9.
  Duration demand(Duration window) const {
    Duration sum = largest_blocking_;
    if (blocking_ == Blocking::deadline_aware) {
      sum = Duration{0};
      for (const DeadlineChain& chain : chains_) {
        if (chain.relative_deadline > window) sum = std::max(sum, longest_callback(chain));
      }
    }
    for (const DeadlineChain& chain : chains_) {
      const std::int64_t due = chain.activations->count(window - chain.relative_deadline + epsilon);
      sum = saturating_add(sum, cost_of(chain, due));
    }
    return sum;
  }

  Duration busy_window() const {
    return least_solution(supply_, epsilon, horizon_, [this](Duration x) {
      Duration sum = saturating_add(epsilon, largest_blocking_);
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
  /// Eq. 8.
  Duration largest_blocking_{0};
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

}  // namespace takt::analysis
