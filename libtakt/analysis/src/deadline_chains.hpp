#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "derived_curve.hpp"
#include "system.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A chain on a deadline-based executor (edf-executor 2): all callbacks of an instance share one
/// absolute deadline, that of the activation of the first.
struct DeadlineChain {
  std::vector<const Cost*> callbacks;
  /// Of the first callback.
  const DerivedCurve* activations = nullptr;
  Duration relative_deadline{};
};

/// What a callback that has begun, of a chain with a later deadline, adds to the demand
/// (edf-executor 5.5, Eqs. 7 and 8).
enum class Blocking {
  /// As printed: the remainder of its cost by the analysed chain's period. Not safe (fact B-16).
  paper,
  /// The longest callback of another chain.
  classic,
  /// The longest callback of chains whose relative deadline exceeds the window. Safe, and tighter.
  deadline_aware,
};

/// The longest time from activation to completion of each chain: relative deadline less least slack
/// (edf-executor Eqs. 9 to 11, with the right-continuous demand bound of 5.1). Between its ends the
/// least slack is searched up to the longest busy window, which takes the place of the printed
/// limit (5.7). unbounded_time for chains without bound below the horizon.
[[nodiscard]] std::vector<Duration> chain_responses(std::span<const DeadlineChain> chains,
                                                    const curves::SupplyBound& supply,
                                                    Blocking blocking, Duration horizon);

/// Where the slack of a chain, which has a bound, is least: what is due within the window.
struct LeastSlack {
  /// From the beginning of the window: when all is done, and when the instance is activated.
  Duration finish{};
  Duration elapsed{};
  /// Instances of each chain.
  std::vector<std::int64_t> due;
  Duration blocking{};
  /// Of the callback that blocks, if it is known.
  const Cost* blocker = nullptr;
};
[[nodiscard]] LeastSlack least_slack(std::span<const DeadlineChain> chains, std::size_t chain,
                                     const curves::SupplyBound& supply, Blocking blocking,
                                     Duration horizon);

}  // namespace takt::analysis
