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
using testing::SizeIs;

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

/// The chain's promise was broken, and this one is not given again yet.
Decision withhold(Duration bound) {
  Decision decision = promise({});
  decision.chains[0].state = ChainState::prepared;
  decision.chains[0].withheld = bound;
  return decision;
}

/// A second of a robot and the decision after it, beginning at `begin`: an instance takes this
/// long.
void pass_second(Promises& promises, Instant begin, Duration latency) {
  promises.completed("pilot", begin + 1ms, begin + 1ms + latency);
  promises.explain(pilot(1ms), begin + 1s);
  promises.enacted(withhold(20ms), pilot(1ms), begin + 1s);
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
}

/// A callback that became longer may degrade the chain before the first long message is completed.
TEST(Promises, ABreachOfAPromiseThatHasEndedIsExplainedOnce) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(100));
  promises.enacted(promise({}), pilot(45ms), at(300));
  const auto breach = promises.completed("pilot", at(290), at(340));
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->bound, 20ms);
  EXPECT_FALSE(promises.completed("pilot", at(295), at(390)));
  const PromiseAccount& account = promises.accounts().at("pilot");
  EXPECT_EQ(account.guaranteed_for(at(1000)), 200ms);
  EXPECT_EQ(account.broken, 2);
  EXPECT_THAT(promises.explain(pilot(45ms), at(400)), SizeIs(1));
  EXPECT_EQ(account.breach, breach);
  EXPECT_THAT(account.reason, HasSubstr("c0 ran 45 ms, at most 1 ms were assumed"));
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
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
}

TEST(Promises, AreGivenAgainAfterTwoCalmDecisions) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  pass_second(promises, at(0), 30ms);
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
  pass_second(promises, at(1000), 20ms);
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
  pass_second(promises, at(2000), 20ms);
  EXPECT_THAT(promises.withdrawn(), IsEmpty());
  const PromiseAccount& account = promises.accounts().at("pilot");
  EXPECT_EQ(account.kept, 0);  // what is withheld is no promise
  EXPECT_EQ(account.guaranteed_for(at(9000)), 31ms);
}

TEST(Promises, AreNotGivenAgainWhileAnyWouldBeBroken) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  pass_second(promises, at(0), 30ms);
  pass_second(promises, at(1000), 20ms);
  pass_second(promises, at(2000), 21ms);
  pass_second(promises, at(3000), 20ms);
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
  EXPECT_EQ(promises.accounts().at("pilot").broken, 1);
  pass_second(promises, at(4000), 20ms);
  EXPECT_THAT(promises.withdrawn(), IsEmpty());
}

TEST(Promises, AreNotGivenAgainWhileNothingIsSeen) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  pass_second(promises, at(0), 30ms);
  for (int second = 1; second < 10; ++second) {
    promises.explain(pilot(1ms), at(1000 * second + 1000));
  }
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
}

/// A message that is on its way may take as long as the bound, and more.
TEST(Promises, AreNotGivenAgainBeforeTheirBoundHasPassed) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  ASSERT_TRUE(promises.completed("pilot", at(0), at(30)));
  promises.explain(pilot(1ms), at(40));
  for (const int time : {40, 50, 60, 1000}) {
    EXPECT_THAT(promises.withdrawn(), SizeIs(1));
    promises.enacted(withhold(500ms), pilot(1ms), at(time));
    promises.completed("pilot", at(time), at(time + 5));
    promises.explain(pilot(1ms), at(time + 10));
  }
  EXPECT_THAT(promises.withdrawn(), IsEmpty());
}

TEST(Promises, ADegradedChainWaitsForRoomInstead) {
  Promises promises;
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  ASSERT_TRUE(promises.completed("pilot", at(0), at(30)));
  promises.explain(pilot(45ms), at(100));
  EXPECT_THAT(promises.withdrawn(), SizeIs(1));
  promises.enacted(promise({}), pilot(45ms), at(100));
  EXPECT_THAT(promises.withdrawn(), IsEmpty());
}

TEST(Promises, WhatTheHostTookBreaksNone) {
  Promises promises;
  StolenTimes stolen;
  stolen.read(at(100), 1s);
  stolen.read(at(200), 1s + 10ms);
  stolen.read(at(300), 1s + 10ms);
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  EXPECT_FALSE(promises.completed("pilot", at(190), at(220), stolen));
  EXPECT_FALSE(promises.completed("pilot", at(210), at(240), stolen));  // it waited for that one
  EXPECT_THAT(promises.withdrawn(), IsEmpty());
  EXPECT_THAT(promises.explain(pilot(1ms), at(300)),
              ElementsAre("chain pilot: it took 30 ms, at most 20 ms were promised; the host took "
                          "the processors for 10 ms meanwhile, so the promise stays"));
  EXPECT_THAT(promises.explain(pilot(1ms), at(400)), IsEmpty());
  const PromiseAccount& account = promises.accounts().at("pilot");
  EXPECT_EQ(account.by_host, 2);
  EXPECT_EQ(account.kept, 0);
  EXPECT_EQ(account.broken, 0);
  EXPECT_EQ(account.breach, std::nullopt);
}

TEST(Promises, WhatTheHostTookExcusesNoMoreThanThat) {
  Promises promises;
  StolenTimes stolen;
  stolen.read(at(100), 0s);
  stolen.read(at(200), 10ms);
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  EXPECT_TRUE(promises.completed("pilot", at(190), Instant{at(220)} + Duration{1}, stolen));
  promises.explain(pilot(1ms), at(300));
  const PromiseAccount& account = promises.accounts().at("pilot");
  EXPECT_EQ(account.by_host, 0);
  EXPECT_EQ(account.broken, 1);
  EXPECT_THAT(account.reason, HasSubstr("; the host took the processors for 10 ms of that"));
  // And not what was taken long before.
  EXPECT_FALSE(promises.completed("pilot", at(221), at(300), stolen));
  EXPECT_EQ(account.by_host, 0);
}

/// The chain's callback is all that its thread runs: it takes `lasts` for its `cpu`, in one piece.
RunsOf one_run(Instant begin, Duration lasts, Duration cpu) {
  const ThreadRun run{.start = begin, .end = begin + lasts, .cpu_at_end = cpu};
  return [run](const std::string& /*executor*/, Instant /*after*/) {
    return std::vector<std::vector<ThreadRun>>{{run}};
  };
}

/// 5 of every 10 ms for the chain's executor.
Decision reserve(Duration bound) {
  Decision decision = promise(bound);
  decision.reservations.push_back({"e0", 5ms, 10ms, 10ms, {}});
  decision.grounds = decision.reservations;
  return decision;
}

TEST(Promises, AReservationThatWasNotServedIsNamed) {
  Promises promises;
  promises.enacted(reserve(20ms), pilot(1ms), at(0));
  const auto breach =
      promises.completed("pilot", at(100), at(130), {}, one_run(at(100), 30ms, 1ms));
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->late, (LateSupply{30ms - 11ms, "e0"}));
  EXPECT_THAT(promises.explain(pilot(Duration{1ms} + Duration{1}), at(200)),
              ElementsAre("chain pilot: promise broken: it took 30 ms, at most 20 ms were "
                          "promised: e0 got its processor time 19 ms later than its reservation "
                          "grants it; c0 ran 1 ms, at most 1 ms were assumed"));
}

TEST(Promises, WhatTheReservationDoesNotExplainComesFirst) {
  Promises promises;
  promises.enacted(reserve(20ms), pilot(1ms), at(0));
  ASSERT_TRUE(promises.completed("pilot", at(100), at(160), {}, one_run(at(100), 60ms, 25ms)));
  promises.explain(pilot(25ms), at(200));
  EXPECT_EQ(promises.accounts().at("pilot").reason,
            "c0 ran 25 ms, at most 1 ms were assumed; "
            "e0 got its processor time 5 ms later than its reservation grants it");
}

TEST(Promises, AReservationThatWasServedIsNotNamed) {
  Promises promises;
  promises.enacted(reserve(20ms), pilot(1ms), at(0));
  ASSERT_TRUE(promises.completed("pilot", at(100), at(150), {}, one_run(at(100), 50ms, 25ms)));
  promises.explain(pilot(1ms), at(200));
  EXPECT_EQ(promises.accounts().at("pilot").reason,
            "nothing that the bound assumes was seen to fail");
}

TEST(Promises, WhatBeganBeforeItsReservationIsNotLate) {
  Promises promises;
  promises.enacted(reserve(20ms), pilot(1ms), at(105));
  const auto breach =
      promises.completed("pilot", at(110), at(140), {}, one_run(at(100), 40ms, 1ms));
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->late, LateSupply{});
}

/// It began while its thread had more, and was not promised that it may get less.
TEST(Promises, AReservationThatBecameSmallerMeanwhileIsNamed) {
  const auto reason = [](const Decision& later) {
    Promises promises;
    promises.enacted(reserve(20ms), pilot(1ms), at(0));
    promises.enacted(later, pilot(1ms), at(110));
    EXPECT_TRUE(promises.completed("pilot", at(100), at(130)));
    promises.explain(pilot(1ms), at(200));
    return promises.accounts().at("pilot").reason;
  };
  const std::string named =
      "the reservation of e0 was made smaller while the message was on its way";
  const std::string none = "nothing that the bound assumes was seen to fail";
  Decision later = reserve(30ms);
  later.reservations[0].budget = later.grounds[0].budget = 4ms;
  EXPECT_EQ(reason(later), named);
  later.reservations[0].budget = 5ms;  // it becomes smaller with the next decision
  EXPECT_EQ(reason(later), none);
  EXPECT_EQ(reason(promise({})), named) << "there is none any more";
}

/// Linux says 10 ms until 20 ms were taken.
TEST(Promises, TheHostMayHaveTakenALittleMoreThanIsSaid) {
  StolenTimes stolen;
  stolen.read(at(0), 0s);
  stolen.read(at(200), 10ms);
  const auto by_host = [&](Duration latency, Duration cpu, const StolenTimes& taken) {
    Promises promises;
    promises.enacted(reserve(20ms), pilot(1ms), at(0));
    promises.completed("pilot", at(100), at(100) + latency, taken, one_run(at(100), latency, cpu));
    return promises.accounts().at("pilot").by_host == 1;
  };
  EXPECT_TRUE(by_host(34ms, 1ms, stolen));
  EXPECT_FALSE(by_host(34ms, 20ms, stolen)) << "its thread had its processor time";
  EXPECT_FALSE(by_host(41ms, 1ms, stolen)) << "that is more than one step";
  EXPECT_FALSE(by_host(34ms, 1ms, {})) << "the host took nothing";
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
  for (const int decisions : {2, 2, 4, 8, 16, 32, 64, 64}) {
    promises.enacted(promise(20ms), pilot(1ms), now);
    ASSERT_TRUE(promises.completed("pilot", now, now + 30ms));
    now += 40ms;
    const auto lines = promises.explain(pilot(1ms), now);
    ASSERT_EQ(lines.size(), 1);
    EXPECT_THAT(lines[0], HasSubstr("nothing that the bound assumes was seen to fail"));
    promises.enacted(withhold(20ms), pilot(1ms), now);
    for (int decision = 0; decision < decisions; ++decision) {
      EXPECT_THAT(promises.withdrawn(), SizeIs(1));
      pass_second(promises, now, 5ms);
      now += 1s;
    }
    EXPECT_THAT(promises.withdrawn(), IsEmpty());
  }
}

/// A second way of the goal appears, so that the first one gets a name; then it goes.
TEST(Promises, GoOnWhenTheirWayGetsAnotherName) {
  Promises promises;
  model::Model two = pilot(1ms);
  two.callbacks.push_back(two.callbacks[0]);
  two.callbacks[1].id = "c1";
  two.chains.push_back(two.chains[0]);
  two.chains[0].callbacks = {model::CallbackIndex(1)};
  two.chains[0].id = "pilot via /joined";
  two.chains[1].id = "pilot via /first";
  promises.enacted(promise(20ms), pilot(1ms), at(0));
  promises.completed("pilot", at(10), at(20));
  ASSERT_TRUE(promises.completed("pilot", at(100), at(150)));
  promises.explain(two, at(300));
  ASSERT_THAT(promises.withdrawn(), SizeIs(1));
  EXPECT_EQ(promises.withdrawn()[0].chain, "pilot via /first");
  EXPECT_FALSE(promises.accounts().contains("pilot"));
  EXPECT_EQ(promises.accounts().at("pilot via /first").kept, 1);
  promises.enacted(promise({}), two, at(300));
  promises.explain(pilot(1ms), at(1300));
  EXPECT_EQ(promises.accounts().at("pilot").kept, 1);
  EXPECT_EQ(promises.accounts().size(), 1);
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
  auto sleeps = before;
  sleeps.callbacks[0].suspension = model::Suspension{.curve = {40ms}, .times = 1};
  EXPECT_THAT(what_exceeds(before, sleeps, "pilot"),
              HasSubstr("c0 suspended itself for 40 ms, at most 0 ms were assumed"));
  auto oftener = sleeps;
  oftener.callbacks[0].suspension->set_times({3});
  EXPECT_THAT(what_exceeds(sleeps, oftener, "pilot"),
              HasSubstr("c0 suspended itself 3 times in one run, at most 1 were assumed"));
  EXPECT_EQ(what_exceeds(oftener, sleeps, "pilot"), "");
  auto in_a_row = oftener;
  in_a_row.callbacks[0].suspension->set_times({3, 5});
  oftener.callbacks[0].suspension->set_times({3, 3});
  EXPECT_THAT(what_exceeds(oftener, in_a_row, "pilot"),
              HasSubstr("c0 suspended itself 5 times in 2 runs, at most 3 were assumed"));
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
  EXPECT_LE(withdrawn.chains[0].withheld, 50ms);
  EXPECT_EQ(withdrawn.reservations.size(), 1);
  const auto again =
      replay(header_line(manager.options()) + entry_line(situation, withdrawn), "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
  EXPECT_THAT(again->decisions, ElementsAre(withdrawn));
}

}  // namespace
}  // namespace takt::manager
