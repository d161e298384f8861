#include "takt/curves/supply_bound.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace takt::curves {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

SupplyBound reservation(Duration budget, Duration period) {
  return SupplyBound::reservation(budget, period, period);
}

TEST(RosLlamaFact, F05_WorkedExamplesAndBlackout) {
  EXPECT_EQ(reservation(milliseconds{5}, milliseconds{10}).supply(milliseconds{11}),
            milliseconds{1});
  EXPECT_EQ(reservation(microseconds{2500}, milliseconds{5}).supply(milliseconds{6}),
            milliseconds{1});
  EXPECT_EQ(reservation(milliseconds{2}, milliseconds{5}).blackout(), milliseconds{6});
}

TEST(RosLlamaFact, F06_UnitSlopeMonotoneAndFullBandwidthIsTheProcessor) {
  for (int period = 1; period <= 9; ++period) {
    for (int budget = 1; budget <= period; ++budget) {
      for (int deadline = budget; deadline <= period; ++deadline) {
        const auto supply =
            SupplyBound::reservation(Duration{budget}, Duration{period}, Duration{deadline});
        for (Duration t{1}; t < Duration{100}; t += epsilon) {
          ASSERT_LE(supply.supply(t - epsilon), supply.supply(t));
          ASSERT_LE(supply.supply(t), supply.supply(t - epsilon) + epsilon);
          if (budget == period) {
            ASSERT_EQ(supply.supply(t), t);
          }
        }
      }
    }
  }
}

/// A thread that suspends itself is supplied by sbf from each resumption on: that is never less
/// than sbf of the whole time without the suspensions and a blackout for each, and forgone() bounds
/// what this lacks.
TEST(SupplyBound, BoundsWhatSuspensionsForgo) {
  for (int period = 1; period <= 6; ++period) {
    for (int budget = 1; budget <= period; ++budget) {
      for (int deadline = budget; deadline <= period; ++deadline) {
        const auto supply =
            SupplyBound::reservation(Duration{budget}, Duration{period}, Duration{deadline});
        for (Duration before{0}; before < Duration{25}; before += epsilon) {
          for (Duration after{0}; after < Duration{25}; after += epsilon) {
            for (Duration suspended{0}; suspended < Duration{15}; suspended += epsilon) {
              const Duration whole = before + suspended + after;
              const Duration supplied = supply.supply(before) + supply.supply(after);
              ASSERT_GE(supplied, supply.supply(before + after - supply.blackout()));
              ASSERT_GE(supplied, supply.supply(whole) - supply.forgone(suspended, 1));
              ASSERT_LE(supply.forgone(before + after, 2),
                        supply.forgone(before, 1) + supply.forgone(after, 1));
            }
          }
        }
      }
    }
  }
}

TEST(RosLlamaFact, F38_InverseOfTheSevenMillisecondReservation) {
  const auto supply = reservation(microseconds{700}, milliseconds{7});
  EXPECT_EQ(supply.time_for(microseconds{700}), microseconds{13'300});
  EXPECT_EQ(supply.time_for(microseconds{710}), microseconds{19'610});
}

TEST(RosLlamaFact, F35_EightMillisecondsSupplyMoreThanSevenInTheStatedRanges) {
  const auto seven = reservation(microseconds{700}, milliseconds{7});
  const auto eight = reservation(microseconds{800}, milliseconds{8});
  EXPECT_EQ(seven.time_for(microseconds{750}), microseconds{19'650});
  EXPECT_EQ(eight.time_for(microseconds{750}), microseconds{15'150});
  EXPECT_EQ(eight.time_for(microseconds{700}), microseconds{15'100});
  std::vector<std::pair<double, double>> ranges;
  for (Duration t{0}; t < milliseconds{50}; t += microseconds{10}) {
    if (eight.supply(t) <= seven.supply(t)) continue;
    const double ms = static_cast<double>(t.count()) / 1e6;
    if (ranges.empty() || ms > ranges.back().second + 0.011) ranges.emplace_back(ms, ms);
    ranges.back().second = ms;
  }
  const std::vector<std::pair<double, double>> stated{
      {15.1, 19.7}, {23.0, 26.8}, {30.9, 33.9}, {38.8, 41.0}, {46.7, 48.1}};
  ASSERT_EQ(ranges.size(), stated.size());
  for (std::size_t i = 0; i < stated.size(); ++i) {
    EXPECT_NEAR(ranges[i].first, stated[i].first, 0.06);
    EXPECT_NEAR(ranges[i].second, stated[i].second, 0.06);
  }
}

TEST(EdfExecutorFact, B13_ReservationOfThreeInFive) {
  const auto supply = reservation(Duration{3}, Duration{5});
  const std::vector<std::pair<int, int>> supplied{{4, 0}, {5, 1}, {7, 3}, {9, 3}, {10, 4}, {12, 6}};
  for (const auto& [window, amount] : supplied) {
    EXPECT_EQ(supply.supply(Duration{window}), Duration{amount});
  }
  const std::vector<int> inverse{5, 6, 7, 10, 11, 12, 15};
  for (int demand = 1; demand <= 7; ++demand) {
    EXPECT_EQ(supply.time_for(Duration{demand}),
              Duration{inverse[static_cast<std::size_t>(demand) - 1]});
  }
}

TEST(EdfExecutorFact, B26_InverseIsTheLeastSufficientWindow) {
  for (int period = 1; period <= 8; ++period) {
    for (int budget = 1; budget <= period; ++budget) {
      for (int deadline = budget; deadline <= period; ++deadline) {
        const auto supply =
            SupplyBound::reservation(Duration{budget}, Duration{period}, Duration{deadline});
        for (Duration demand{0}; demand < Duration{40}; demand += epsilon) {
          const Duration window = supply.time_for(demand);
          ASSERT_GE(supply.supply(window), demand);
          if (demand > Duration{0}) {
            ASSERT_LT(supply.supply(window - epsilon), demand);
          }
        }
      }
    }
  }
}

/// The least supply over every placement of the budget's units within the deadlines of consecutive
/// periods, for every window: the definition behind SupplyBound::reservation.
TEST(SupplyBound, ConstrainedDeadlineMatchesEveryPlacement) {
  constexpr int period = 5;
  for (int deadline = 1; deadline <= period; ++deadline) {
    for (int budget = 1; budget <= deadline; ++budget) {
      // In the window's first period the budget comes first, and last in all others: for every
      // alignment of the window this is the placement that supplies least.
      const auto supply =
          SupplyBound::reservation(Duration{budget}, Duration{period}, Duration{deadline});
      for (int window = 1; window < 30; ++window) {
        int least = window;
        for (int start = 0; start < period; ++start) {
          for (int early = 0; early < 2; ++early) {
            int supplied = 0;
            for (int t = start; t < start + window; ++t) {
              const int slot = t % period;
              const bool first = t < period && early == 1;
              const int from = first ? 0 : deadline - budget;
              if (slot >= from && slot < from + budget) ++supplied;
            }
            least = std::min(least, supplied);
          }
        }
        ASSERT_EQ(supply.supply(Duration{window}), Duration{least})
            << budget << '/' << deadline << '/' << period << " window " << window;
      }
    }
  }
}

/// The least supply over every place of the window in the cycle: the definition behind
/// SupplyBound::slots. Every set of slots of a cycle of ten: a bit says whether a unit is in a
/// slot.
TEST(SupplyBound, SlotsMatchEveryAlignment) {
  constexpr int cycle = 10;
  for (int units = 1; units < 1 << cycle; ++units) {
    const auto in_slot = [units](int t) { return (units >> t % cycle & 1) != 0; };
    std::vector<SupplyBound::Slot> slots;
    for (int t = 0; t < cycle; ++t) {
      if (!in_slot(t)) continue;
      // Neighbouring units as one slot; some stay two, which must make no difference.
      const bool grows = !slots.empty() && slots.back().end == Duration{t} && t % 3 != 0;
      if (!grows) slots.push_back({Duration{t}, Duration{t}});
      slots.back().end = Duration{t + 1};
    }
    const auto supply = SupplyBound::slots(slots, Duration{cycle});
    for (int window = 1; window < 3 * cycle; ++window) {
      int least = window;
      for (int start = 0; start < cycle; ++start) {
        int supplied = 0;
        for (int t = start; t < start + window; ++t) supplied += in_slot(t) ? 1 : 0;
        least = std::min(least, supplied);
      }
      ASSERT_EQ(supply.supply(Duration{window}), Duration{least}) << units << " window " << window;
    }
    for (Duration demand{1}; demand < Duration{25}; demand += epsilon) {
      const Duration window = supply.time_for(demand);
      ASSERT_GE(supply.supply(window), demand) << units;
      ASSERT_LT(supply.supply(window - epsilon), demand) << units;
    }
  }
}

TEST(SupplyBound, TheLineBelowSupplyTouchesIt) {
  const std::vector<std::vector<SupplyBound::Slot>> tables{
      {{Duration{0}, Duration{100}}, {Duration{600}, Duration{610}}},
      {{Duration{0}, Duration{10}}, {Duration{20}, Duration{30}}, {Duration{900}, Duration{999}}},
      {{Duration{300}, Duration{700}}},
      {{Duration{0}, Duration{1000}}}};
  for (const auto& slots : tables) {
    const auto supply = SupplyBound::slots(slots, Duration{1000});
    const auto below = [&](Duration delay) {
      for (Duration window{0}; window < Duration{3000}; window += epsilon) {
        const auto in_line = supply.budget() * (window - delay).count();
        if (supply.supply(window) * supply.period().count() < in_line) return false;
      }
      return true;
    };
    EXPECT_TRUE(below(supply.line_delay()));
    EXPECT_FALSE(below(supply.line_delay() - epsilon));
  }
}

/// performance-engineering Table 4.3: a server of 23 ms to 33 ms and one of 86 ms to 87 ms per
/// cycle of 100 ms.
TEST(SupplyBound, SlotsOfDifferentLengths) {
  using std::chrono::milliseconds;
  const std::vector<SupplyBound::Slot> slots{{milliseconds{23}, milliseconds{33}},
                                             {milliseconds{86}, milliseconds{87}}};
  const auto supply = SupplyBound::slots(slots, milliseconds{100});
  EXPECT_EQ(supply.blackout(), milliseconds{53});
  EXPECT_EQ(supply.time_for(milliseconds{1}), milliseconds{54});
  EXPECT_EQ(supply.time_for(milliseconds{2}), milliseconds{91});
  EXPECT_EQ(supply.supply(milliseconds{153}), milliseconds{11});
}

}  // namespace
}  // namespace takt::curves
