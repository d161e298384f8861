#include "takt/shaping/overshoot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace takt::shaping {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using Kind = Gate::Decision::Kind;

constexpr Duration cycle = milliseconds(100);
constexpr Duration publish = milliseconds(1);

Gate gate(Overshoot policy) {
  return {{{milliseconds(60), milliseconds(61)}, {milliseconds(80), milliseconds(81)}},
          cycle,
          publish,
          milliseconds(40),
          policy};
}

/// Latencies of 50, 120 and 50 ms: the second ends 20 ms after the third was to begin.
Delivery after_overshoot(Overshoot policy) {
  const std::vector<Duration> latencies = {milliseconds(50), milliseconds(120), milliseconds(50)};
  return deliver(gate(policy), latencies, cycle, publish);
}

TEST(Gate, OutputsLeaveInSlotsOfTheirCycle) {
  for (const int round : {-3, 0, 7}) {
    const Duration begin = round * cycle;
    const auto first = gate(Overshoot::skip).decide(begin + milliseconds(45));
    EXPECT_EQ(first.kind, Kind::in_slot);
    EXPECT_EQ(first.release, begin + milliseconds(60));
    EXPECT_EQ(gate(Overshoot::skip).decide(begin + milliseconds(60)).release,
              begin + milliseconds(60));
    EXPECT_EQ(gate(Overshoot::skip).decide(begin + milliseconds(61)).release,
              begin + milliseconds(80));
  }
}

TEST(Gate, LateOnesFollowThePolicy) {
  for (const int when : {81, 99, 119}) {  // the last is of the cycle before: nothing is so short
    EXPECT_EQ(gate(Overshoot::skip).decide(milliseconds(when)).kind, Kind::dropped);
    const auto deferred = gate(Overshoot::defer).decide(milliseconds(when));
    EXPECT_EQ(deferred.kind, Kind::late);
    EXPECT_EQ(deferred.release, milliseconds(160));
    const auto degraded = gate(Overshoot::degrade).decide(milliseconds(when));
    EXPECT_EQ(degraded.kind, Kind::late);
    EXPECT_EQ(degraded.release, milliseconds(when));
  }
}

TEST(Overshoot, SkippedOutputsAreMissing) {
  const Delivery delivery = after_overshoot(Overshoot::skip);
  // Ready at 50, 220 and 270. At 20 ms of its cycle, the second counts as an output of that cycle.
  EXPECT_THAT(delivery.latencies,
              ElementsAre(milliseconds(61), milliseconds(161), milliseconds(81)));
  EXPECT_EQ(delivery.dropped, 0);
  const std::vector<Duration> latencies = {milliseconds(50), milliseconds(90), milliseconds(50)};
  const Delivery dropped = deliver(gate(Overshoot::skip), latencies, cycle, publish);
  EXPECT_THAT(dropped.latencies, ElementsAre(milliseconds(61), milliseconds(61)));
  EXPECT_EQ(dropped.dropped, 1);
  EXPECT_EQ(dropped.longest_gap, milliseconds(200));
}

TEST(Overshoot, DeferredOutputsLeaveInTheNextSlot) {
  const std::vector<Duration> latencies = {milliseconds(50), milliseconds(90), milliseconds(50)};
  const Delivery delivery = deliver(gate(Overshoot::defer), latencies, cycle, publish);
  EXPECT_THAT(delivery.latencies,
              ElementsAre(milliseconds(61), milliseconds(161), milliseconds(61)));
  EXPECT_EQ(delivery.late, 1);
  EXPECT_EQ(delivery.longest_gap, milliseconds(200));
}

TEST(Overshoot, DegradedOutputsLeaveAtOnce) {
  const std::vector<Duration> latencies = {milliseconds(50), milliseconds(90), milliseconds(50)};
  const Delivery delivery = deliver(gate(Overshoot::degrade), latencies, cycle, publish);
  EXPECT_THAT(delivery.latencies,
              ElementsAre(milliseconds(61), milliseconds(91), milliseconds(61)));
  EXPECT_EQ(delivery.late, 1);
  EXPECT_EQ(delivery.dropped, 0);
}

TEST(Overshoot, AllPoliciesAreOneWhereNothingIsLate) {
  const std::vector<Duration> latencies(100, milliseconds(70));
  for (const Overshoot policy : {Overshoot::skip, Overshoot::defer, Overshoot::degrade}) {
    const Delivery delivery = deliver(gate(policy), latencies, cycle, publish);
    EXPECT_EQ(delivery.latencies, std::vector<Duration>(100, milliseconds(81)));
    EXPECT_EQ(delivery.longest_gap, cycle);
  }
}

}  // namespace
}  // namespace takt::shaping
