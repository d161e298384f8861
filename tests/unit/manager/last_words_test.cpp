#include "takt/manager/last_words.hpp"

#include <gmock/gmock.h>

#include "takt/manager/situation.hpp"

namespace takt::manager {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;

const ChainDecision kept{.id = "pilot",
                         .state = ChainState::guaranteed,
                         .reason = {},
                         .goal = milliseconds{50},
                         .bound = milliseconds{20}};
const ChainDecision over{
    .id = "pilot", .state = ChainState::unmanaged, .reason = std::string(program_has_ended)};
const ReservationDecision of_sensor{.executor = "sensor", .budget = milliseconds{1}};
const ReservationDecision of_motor{.executor = "motor", .budget = milliseconds{2}};

Decision decision(const ChainDecision& chain, std::vector<ReservationDecision> reservations) {
  return {.time = {}, .chains = {chain}, .reservations = std::move(reservations), .changes = {}};
}

/// The programs of a chain end one after the other, with a decision each.
TEST(LastWords, SayWhatHeldToTheEnd) {
  LastWords last;
  last.decided(decision(kept, {of_sensor, of_motor}), {});
  last.decided(decision(over, {of_motor}), {"sensor"});
  last.decided(decision(over, {}), {"sensor"});
  last.decided(decision(over, {}), {"sensor", "motor"});
  EXPECT_THAT(last.words().chains, ElementsAre(kept));
  EXPECT_THAT(last.words().reservations, ElementsAre(of_motor, of_sensor));
}

TEST(LastWords, AreOfTheLastDecisionForWhatRuns) {
  LastWords last;
  last.decided(decision(kept, {of_sensor, of_motor}), {});
  ChainDecision degraded = kept;
  degraded.state = ChainState::degraded;
  last.decided(decision(degraded, {of_motor}), {});
  EXPECT_THAT(last.words().chains, ElementsAre(degraded));
  EXPECT_THAT(last.words().reservations, ElementsAre(of_motor));
}

TEST(LastWords, AreTheReasonWhereNothingHeld) {
  LastWords last;
  last.decided(decision(over, {}), {"motor"});
  EXPECT_THAT(last.words().chains, ElementsAre(over));
}

TEST(LastWords, APromiseThatBrokeAfterTheLastDecisionIsNone) {
  LastWords last;
  last.decided(decision(kept, {}), {});
  last.broke("another", "too late");
  EXPECT_THAT(last.words().chains, ElementsAre(kept));
  last.broke("pilot", "too late");
  ChainDecision broken = kept;
  broken.state = ChainState::prepared;
  broken.reason = "too late";
  broken.bound.reset();
  EXPECT_THAT(last.words().chains, ElementsAre(broken));
  last.decided(decision(over, {}), {"motor"});
  EXPECT_THAT(last.words().chains, ElementsAre(broken));
}

}  // namespace
}  // namespace takt::manager
