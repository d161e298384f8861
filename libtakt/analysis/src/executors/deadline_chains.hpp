#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "busy_window/busy_window.hpp"
#include "system/system.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A chain on a deadline-based executor (edf-executor 2): all callbacks of an instance share one
/// absolute deadline, counted from the activation of the first.
struct DeadlineChain {
  struct Callback {
    CallbackIndex callback;
    const Cost* cost = nullptr;
  };
  std::vector<Callback> callbacks;
  /// The activations of the first callback.
  const curves::DerivedCurve* activations = nullptr;
  Duration relative_deadline{};
};

/// The demand that a callback adds which has already begun, of a chain with a later deadline
/// (edf-executor 5.5, Eqs. 7 and 8).
enum class DeadlineBlocking {
  /// As printed: the remainder of its cost by the analysed chain's period. Not safe (fact B-16).
  paper,
  /// The longest callback of another chain.
  classic,
  /// The longest callback of chains whose relative deadline exceeds the window. Safe, and tighter.
  deadline_aware,
};

/// The deadline-based analysis of edf-executor 5 (Eqs. 7 to 11): the longest time from activation
/// to completion of a chain is its relative deadline less its least slack.
class SlackSearch {
 public:
  /// `chains` and `supply` must outlive the search.
  SlackSearch(std::span<const DeadlineChain> chains, const curves::SupplyBound& supply,
              DeadlineBlocking blocking, const Limits& limits);

  /// The longest response of a chain, and the window in which its slack is least. The window ends
  /// with the deadline of the chain's instance.
  struct LeastSlack {
    /// unbounded_time if it is beyond the horizon.
    Duration response{};
    Duration window{};
  };
  /// Eqs. 10 and 11. Windows are tried up to the longest busy window, which replaces the printed
  /// limit (5.7).
  [[nodiscard]] LeastSlack least_slack(const DeadlineChain& chain) const;

  /// The time at which all that is due within the window is done (Eq. 9).
  [[nodiscard]] Duration finish(Duration window) const { return supply_.time_for(demand(window)); }
  /// How many instances of a chain are due within the window: the right-continuous demand bound of
  /// 5.1.
  [[nodiscard]] static std::int64_t due(const DeadlineChain& chain, Duration window);
  /// The callback that blocks longest in such a window.
  [[nodiscard]] Blocking blocking_within(Duration window) const;

 private:
  void find_largest_blocking(const DeadlineChain& chain);
  [[nodiscard]] Duration demand(Duration window) const;
  [[nodiscard]] Duration busy_window() const;

  std::span<const DeadlineChain> chains_;
  const curves::SupplyBound& supply_;
  DeadlineBlocking blocking_;
  Limits limits_;
  Blocking largest_blocking_;
  /// The longest busy window.
  Duration length_{};
};

}  // namespace takt::analysis
