#pragma once

#include <cstdint>
#include <span>

#include "effort.hpp"
#include "system/system.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/curves/growing_count.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// Theorem 2 of ros-llama. The instance under analysis, of a polled callback i or of a chain that
/// ends with i, starts at the latest at S*, the least S > 0 with
///
///   sbf(S) >= ε + Σ ET_j(min(η_j(S + R_j - ε), most_j)) + ET_i(η_i(S + R_i - ε) - 1)
///
/// and responds within R*, the time in which sbf(S*) - ε + Ω is supplied.
///
///   Lemma 3:  η_j(S + R_j - ε) instances may be pending in a window of length S that begins at
///             most ε before the response ends. Of i itself, all but the instance count.
///   Lemma 4:  most_j: a polled callback runs at most once for each of the pp polling points, and
///             once more if it precedes i in the last processing window.
///   Queues:   where messages to i displace older ones, i itself runs at most once before for each
///             polling point (docs/analysis-theory.md, "Queues that displace").
///   Lemma 17: Ω, the marginal cost of the instance, is ET_i(n) - ET_i(n - 1) where it is the n-th.
///
/// The search approaches S* from below, also while bounds, curves and polling points grow. It keeps
/// its progress: how far S has come, the demand found for it, and up to which window each count
/// holds.
class RoundRobin {
 public:
  /// A callback j that delays the instance directly.
  struct Other {
    const Cost* cost;
    /// R_j, as found so far.
    const Duration* response;
    curves::GrowingCount activated;
    /// At most this many more instances run than there are polling points; unbounded_count if Lemma
    /// 4 does not apply because the callback is privileged.
    std::int64_t extra;

    std::int64_t most = 0;
    /// R_j - ε.
    Duration reach{};
    /// The processor time that the callback demands, and the largest S + R_j - ε for which it does.
    Duration demand{};
    Duration demand_until{-1};
    /// Whether as many instances are pending as Lemma 4 admits.
    bool saturated = false;
  };

  /// `others` must outlive the search, which writes to them.
  /// `displaces`: whether messages to i displace older ones.
  RoundRobin(const curves::SupplyBound& supply, Effort& effort, const Cost& cost,
             const curves::DerivedCurve& activations, bool displaces, std::span<Other> others)
      : supply_(&supply),
        effort_(&effort),
        cost_(&cost),
        own_activated_(activations),
        displaces_(displaces),
        others_(others) {}

  /// Takes over the present bounds and curves of the others.
  void renew_others();
  /// Takes over the instance's own bound R_i and its polling points.
  void renew(Duration own, std::int64_t polling_points);

  /// Takes one step towards S*. Returns false when S* is reached.
  bool advance();

  /// S* and R*; lower bounds of them as long as S* is not reached.
  [[nodiscard]] Duration start() const { return start_; }
  [[nodiscard]] Duration response() const;

  /// Searches for R* after renew(); unbounded_time if S* is beyond the limit.
  [[nodiscard]] Duration longest_response(Duration limit);

 private:
  static void renew(Other& other);
  void count_own(Duration window);
  void take_own();
  void count(Other& other, Duration window);
  void take_demand(Other& other);

  const curves::SupplyBound* supply_;
  Effort* effort_;
  const Cost* cost_;
  curves::GrowingCount own_activated_;
  bool displaces_;
  Duration own_reach_{};
  Duration own_demand_{};
  /// Ω.
  Duration marginal_cost_{};
  std::span<Other> others_;
  std::int64_t polling_points_ = -1;
  Duration start_ = epsilon;
  /// The right side of the inequality.
  Duration demand_ = epsilon;
};

}  // namespace takt::analysis
