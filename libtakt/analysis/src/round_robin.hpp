#pragma once

#include <cstdint>
#include <span>

#include "derived_curve.hpp"
#include "growing_count.hpp"
#include "system.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// Theorem 2 of ros-llama: an instance of a polled callback, or the last one of a chain, starts at
/// the latest at the least S > 0 with
///
///   sbf(S) >= ε + Σ ET_j(min(η_j(S + R_j - ε), most_j)) + ET_i(η_i(S + R_i - ε) - 1)
///
/// and then completes as Lemma 17 says. Lemma 3: pending in a window of length S, at most ε before
/// the response ends, are all these activations but the instance itself. Lemma 4: a polled callback
/// runs at most once for each polling point, and once more if it precedes the instance in its last
/// processing window.
///
/// S is approached from below, while bounds, curves and polling points grow. So everything is kept:
/// how far S has come, what it was found to demand, and up to which window each count holds.
class RoundRobin {
 public:
  /// Another callback, which delays the instance.
  struct Other {
    const Cost* cost;
    /// Its present bound.
    const Duration* response;
    GrowingCount activated;
    /// How many more instances than there are polling points; unbounded_count: no limit.
    std::int64_t extra;

    std::int64_t most = 0;
    /// Those activated in windows of length x + reach may be pending in windows of length x.
    Duration reach{};
    /// The processor time that it demands, and up to which length of x + reach.
    Duration demand{};
    Duration demand_until{-1};
    /// It runs as often as it can.
    bool saturated = false;
  };

  /// `others` must outlive the search, which writes to them.
  RoundRobin(const curves::SupplyBound& supply, const Cost& cost, const DerivedCurve& activations,
             std::span<Other> others)
      : supply_(&supply), cost_(&cost), own_activated_(activations), others_(others) {}

  /// Takes over the present bounds and curves of the others.
  void renew_others();
  /// And the bound and the polling points of the instance's own response.
  void renew(Duration own, std::int64_t polling_points);

  /// One step towards S. False: it is found.
  bool advance();

  /// S and the longest response, or what they are not below as long as S is not found.
  [[nodiscard]] Duration start() const { return start_; }
  [[nodiscard]] Duration response() const;

  /// The longest response, once renewed; unbounded_time if the start is beyond the limit.
  [[nodiscard]] Duration longest_response(Duration limit);

 private:
  static void renew(Other& other);
  void count_own(Duration window);
  void count(Other& other, Duration window);

  const curves::SupplyBound* supply_;
  const Cost* cost_;
  GrowingCount own_activated_;
  Duration own_reach_{};
  Duration own_demand_{};
  Duration last_cost_{};
  std::span<Other> others_;
  std::int64_t polling_points_ = -1;
  Duration start_ = epsilon;
  /// Of all, and ε.
  Duration demand_ = epsilon;
};

}  // namespace takt::analysis
