#include "takt/manager/promises.hpp"

#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/manager/log.hpp"
#include "takt/manager/manager.hpp"

/// What was promised, held against what was measured, without a robot or a clock.
namespace takt::manager {
namespace {

using model::ModelBuilder;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Instant at(std::int64_t count) { return Instant{std::chrono::milliseconds{count}}; }

model::Model pilot(Duration cost, Duration period = 50ms) {
  ModelBuilder builder;
  builder.chain({builder.timer(builder.executor(), cost, model::every(period))}, 50ms);
  builder.model().chains[0].id = "pilot";
  return builder.model();
}

/// None: the chain is degraded.
Decision promise(std::optional<Duration> bound) {
  const auto state = bound ? ChainState::guaranteed : ChainState::degraded;
  const ChainDecision chain{
      .id = "pilot", .state = state, .reason = {}, .goal = 50ms, .bound = bound};
  return {.time = {}, .chains = {chain}, .reservations = {}, .changes = {}};
}

TEST(Promises, AnInstanceIsHeldAgainstTheBoundOfItsActivation) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(100));
  promises.enacted(promise(40ms), pilot(1ms), at(200));
  promises.enacted(promise({}), pilot(1ms), at(300));
  EXPECT_FALSE(promises.completed("pilot", at(99), at(199)));   // before any promise
  EXPECT_FALSE(promises.completed("pilot", at(190), at(210)));  // exactly the first bound
  EXPECT_FALSE(promises.completed("pilot", at(200), at(240)));  // exactly the second one
  EXPECT_FALSE(promises.completed("pilot", at(300), at(900)));  // not promised any more
  EXPECT_FALSE(promises.completed("other", at(150), at(900)));  // never promised
  const PromiseAccount& account = promises.accounts().at("pilot");
  EXPECT_EQ(account.kept, 2);
  EXPECT_EQ(account.broken, 0);
  EXPECT_EQ(account.longest, 40ms);
  EXPECT_EQ(account.bound, 40ms);
  EXPECT_EQ(account.guaranteed_for(at(1000)), 200ms);
  // It was activated under the first promise, which has ended since.
  EXPECT_FALSE(promises.completed("pilot", at(199), at(220)));
  EXPECT_EQ(account.broken, 1);
  EXPECT_EQ(account.breach, std::nullopt);
}

TEST(Promises, ABreachOfAnEarlierBoundEndsThePromiseOfNow) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(100));
  promises.enacted(promise(40ms), pilot(1ms), at(200));
  const auto breach = promises.completed("pilot", at(199), at(220));
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->latency, 21ms);
  EXPECT_EQ(breach->bound, 20ms);
}

TEST(Promises, ABreachEndsThePromiseAtOnceAndNamesWhatWasLonger) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  ASSERT_TRUE(promises.completed("pilot", at(100), at(150)));
  EXPECT_FALSE(promises.completed("pilot", at(200), at(250)));  // not promised any more
  EXPECT_EQ(promises.accounts().at("pilot").since, std::nullopt);
  EXPECT_THAT(
      promises.explain(pilot(45ms), at(300)),
      ElementsAre("chain pilot: promise broken: it took 50 ms, at most 20 ms were promised: "
                  "c0 ran 45 ms, at most 1 ms were assumed"));
  EXPECT_THAT(promises.explain(pilot(45ms), at(400)), IsEmpty());
  EXPECT_EQ(promises.accounts().at("pilot").broken, 1);
  EXPECT_EQ(promises.withdrawn(at(300)).size(), 1);
  EXPECT_THAT(promises.withdrawn(at(300) + Promises::calm), IsEmpty());
}

/// The decision that came meanwhile knows what was longer; the promise that was broken did not.
TEST(Promises, ABreachIsExplainedByTheModelOfItsOwnPromise) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  promises.enacted(promise(60ms), pilot(45ms), at(160));
  ASSERT_TRUE(promises.completed("pilot", at(100), at(150)));
  const auto lines = promises.explain(pilot(45ms), at(300));
  ASSERT_EQ(lines.size(), 1);
  EXPECT_THAT(lines[0], HasSubstr("c0 ran 45 ms, at most 1 ms were assumed"));
}

TEST(Promises, WhatNobodyCanExplainIsPromisedAgainEverMoreRarely) {
  Promises promises;
  Instant now = at(0);
  for (Duration wait = Promises::calm; wait <= Promises::calm * 8; wait *= 2) {
    promises.enacted(promise(20ms), pilot(1ms), now);
    ASSERT_TRUE(promises.completed("pilot", now, now + 30ms));
    const auto lines = promises.explain(pilot(1ms), now);
    ASSERT_EQ(lines.size(), 1);
    EXPECT_THAT(lines[0], HasSubstr("nothing that the bound assumes was seen to fail"));
    EXPECT_EQ(promises.withdrawn(now + wait - 1ms).size(), 1);
    now += wait;
    EXPECT_THAT(promises.withdrawn(now), IsEmpty());
  }
}

TEST(Promises, WhatExceedsIsNamed) {
  const auto before = pilot(1ms);
  EXPECT_EQ(what_exceeds(before, before, "pilot"), "");
  EXPECT_EQ(what_exceeds(before, pilot(Duration{999'999}), "pilot"), "");
  EXPECT_THAT(what_exceeds(before, pilot(1ms, 20ms), "pilot"),
              HasSubstr("was activated 2 times within 20 ms, at least 50 ms were assumed"));
  auto overhead = before;
  overhead.executors[0].overhead = {3ms};
  EXPECT_THAT(what_exceeds(before, overhead, "pilot"),
              HasSubstr("took between two callbacks 3 ms, at most 0 ms were assumed"));
  ModelBuilder more;
  const auto executor = more.executor();
  more.chain({more.timer(executor, 1ms, model::every(50ms))}, 50ms);
  more.timer(executor, 1ms, model::every(50ms));
  more.model().chains[0].id = "pilot";
  EXPECT_THAT(what_exceeds(before, more.model(), "pilot"), HasSubstr("is new"));
  // Another executor does not matter to the chain.
  more.timer(more.executor(), 40ms, model::every(50ms));
  EXPECT_EQ(what_exceeds(more.model(), more.model(), "pilot"), "");
}

TEST(Promises, AChainWhosePromiseWasBrokenKeepsItsReservation) {
  Situation situation{.time = at(1),
                      .model = pilot(10ms),
                      .missing_goals = {},
                      .doubts = {},
                      .broken = {{"pilot", "took 50 ms, at most 20 ms were promised"}},
                      .cores = {.numbers = {0}, .capacity = 0.9}};
  Manager manager;
  const Decision withdrawn = manager.decide(situation);
  ASSERT_EQ(withdrawn.chains.size(), 1);
  EXPECT_EQ(withdrawn.chains[0].state, ChainState::prepared);
  EXPECT_EQ(withdrawn.chains[0].reason, situation.broken[0].reason);
  EXPECT_EQ(withdrawn.chains[0].bound, std::nullopt);
  EXPECT_EQ(withdrawn.reservations.size(), 1);
  const auto again =
      replay(header_line(manager.options()) + entry_line(situation, withdrawn), "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
  EXPECT_THAT(again->decisions, ElementsAre(withdrawn));
}

}  // namespace
}  // namespace takt::manager
