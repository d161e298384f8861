#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "takt/curves/remaining_supply.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// sbf: the least processor time supplied in any window of a given length, and its pseudo-inverse.
/// Monotone, sbf(0) = 0, and sbf(x) <= sbf(x - ε) + ε (ros-llama S-2.1, Property 1).
class SupplyBound {
 public:
  /// The whole of a processor: sbf(Δ) = Δ.
  [[nodiscard]] static SupplyBound dedicated() { return {Duration{1}, Duration{1}, Duration{0}}; }

  /// Half-open [start, end), offsets within a cycle.
  struct Slot {
    Duration start{};
    Duration end{};
  };

  /// The whole of a processor within slots that repeat every `cycle` (a table-driven reservation,
  /// performance-engineering 3.1), from an unknown place in the cycle: at least one slot, in the
  /// order of their starts, none overlapping, none empty, all within [0, cycle]. O(n² log n).
  [[nodiscard]] static SupplyBound slots(std::span<const Slot> slots, Duration cycle);

  /// `budget` in every `period`, each delivered within `deadline` of its period's start:
  /// 0 < budget <= deadline <= period. In the worst case one budget comes at the very start of its
  /// period and the next at the very end of its deadline, so that nothing is supplied for
  /// period + deadline - 2·budget, and one budget per period from then on. This is the explicit
  /// deadline periodic resource model (Easwaran, Anand, Lee, RTSS 2007); with deadline = period it
  /// is S-2.1 with D = P - Q (the printed D = 2(P - Q) contradicts the document's own examples).
  [[nodiscard]] static SupplyBound reservation(Duration budget, Duration period,
                                               Duration deadline) {
    return {budget, period, period + deadline - 2 * budget};
  }

  /// What others leave of a processor.
  [[nodiscard]] static SupplyBound remaining(std::shared_ptr<const RemainingSupply> remaining) {
    SupplyBound bound{Duration{1}, Duration{1}, epsilon};
    bound.remaining_ = std::move(remaining);
    return bound;
  }

  /// sbf(window); 0 for windows <= 0. O(1), but for what others leave.
  [[nodiscard]] Duration supply(Duration window) const;

  /// The least window with sbf(window) >= demand; 0 for demands <= 0, unbounded_time when it does
  /// not fit. O(1), but for what others leave.
  [[nodiscard]] Duration time_for(Duration demand) const {
    if (demand <= Duration{0}) return Duration{0};
    if (remaining_) return remaining_->time_for(demand);
    if (budget_ == period_) return saturating_add(blackout_, demand);
    const std::int64_t full = (demand - epsilon) / budget_;
    const Duration rest = demand - full * budget_;
    const Duration wait = waits_.empty() ? blackout_ : wait_for(rest);
    return saturating_add(saturating_multiply(period_, full), saturating_add(wait, rest));
  }

  /// What a thread of a reservation forgoes by suspending itself: at most so much does sbf lose if
  /// it counts only the time without `suspended` and without a blackout for each of `times`
  /// suspensions (docs/analysis-theory.md, "Suspension"). Of a processor, the suspended time.
  /// Sub-additive in both together. Not for slots. O(1).
  [[nodiscard]] Duration forgone(Duration suspended, std::int64_t times) const {
    return most_in(saturating_add(suspended, saturating_multiply(blackout_, times)));
  }

  /// Null unless it is what others leave of a processor. Of this supply the functions below say
  /// only that the blackout is not 0.
  [[nodiscard]] const RemainingSupply* remaining() const { return remaining_.get(); }

  /// The longest time without supply; the long-run share of the processor is budget() / period().
  /// For slots, the budget is their sum in every cycle.
  [[nodiscard]] Duration blackout() const { return blackout_; }
  [[nodiscard]] Duration budget() const { return budget_; }
  /// The least d with sbf(Δ) >= budget() / period() · (Δ - d) for all Δ: the blackout if whole
  /// budgets come, more if a budget comes in parts, of which the last are small.
  [[nodiscard]] Duration line_delay() const;
  [[nodiscard]] Duration period() const { return period_; }
  /// Whether after the blackout each budget comes in one piece, as that of a reservation does.
  [[nodiscard]] bool whole_budgets() const { return waits_.empty(); }

 private:
  SupplyBound(Duration budget, Duration period, Duration blackout)
      : budget_(budget), period_(period), blackout_(blackout) {}

  /// Beyond `demand`, which is within a period's budget, the longest time without supply is `wait`.
  struct Wait {
    Duration demand{};
    Duration wait{};
  };
  [[nodiscard]] Duration supply_with_waits(Duration window) const;
  [[nodiscard]] Duration most_in(Duration time) const;
  [[nodiscard]] Duration wait_for(Duration demand) const;

  Duration budget_;
  Duration period_;
  Duration blackout_;
  /// The wait as a step function of the demand within one period's budget. The first step is at
  /// demand 0, with the blackout as its wait. Empty if that is the only step.
  std::vector<Wait> waits_;
  std::shared_ptr<const RemainingSupply> remaining_;
};

}  // namespace takt::curves
