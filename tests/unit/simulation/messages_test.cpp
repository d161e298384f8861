#include <gmock/gmock.h>

#include "models.hpp"

/// How messages pass from callback to callback: chains, joins, trigger sets, delays, queues, data
/// that timers sample.
namespace takt::simulation {
namespace {

using enum model::ExecutorKind;
using testing::ElementsAre;

std::vector<Duration> of(std::initializer_list<int> times) {
  std::vector<Duration> result;
  for (const int time : times) result.push_back(milliseconds(time));
  return result;
}

TEST(Messages, MeasureAChainFromTheFirstActivationToTheLastCompletion) {
  Models models;
  models.executor("e", single_threaded).timer("a", milliseconds(100), milliseconds(2));
  models.executor("f", single_threaded).subscription("b", milliseconds(3), {"a"});
  models.executor("g", single_threaded).subscription("c", milliseconds(4), {});
  models.edge("b", "c", milliseconds(10));
  models.chain("abc", {"a", "b", "c"}).chain("bc", {"b", "c"});
  const Simulation simulation = models.run(milliseconds(1000));
  EXPECT_EQ(simulation.chains[0].latency.count(), 10);
  EXPECT_EQ(simulation.chains[0].latency.max(), milliseconds(19));
  EXPECT_EQ(simulation.chains[1].latency.max(), milliseconds(17));
  EXPECT_EQ(simulation.callbacks[2].response_time.max(), milliseconds(4)) << "from the arrival";
}

TEST(Messages, ComeInAdditionToActivationsOfTheReceiversOwn) {
  Models models;
  models.executor("e", events);
  models.timer("a", milliseconds(10), milliseconds(1));
  models.subscription("b", milliseconds(1), {"a"});
  models["b"].activation = model::PeriodicActivation{milliseconds(25)};
  const Simulation simulation = models.run(milliseconds(100));
  EXPECT_EQ(simulation.callbacks[0].activations, 10);
  EXPECT_EQ(simulation.callbacks[1].activations, 14) << "10 messages of a, 4 from outside";
}

TEST(Messages, RunAtTheReceiversOwnPriorityIfItIsActivatedFromOutsideToo) {
  // As a child of "low" it would wait for "middle".
  Models models;
  models.executor("e", graph_aware);
  models.timer("low", milliseconds(1000), milliseconds(2))
      .timer("middle", milliseconds(5), milliseconds(3));
  models.subscription("high", milliseconds(1), {"low"});
  models["low"].priority = 1;
  models["middle"].priority = 2;
  models["high"].priority = 3;
  models["high"].activation = model::PeriodicActivation{milliseconds(1000)};
  Options options;
  options.offsets = {{"high", milliseconds(500)}, {"middle", milliseconds(1)}};
  EXPECT_EQ(models.schedule(milliseconds(7), options), "low [0,2) high [2,3) middle [3,6)");
  models["high"].activation.reset();
  options.offsets.erase("high");
  EXPECT_EQ(models.schedule(milliseconds(7), options), "low [0,2) middle [2,5) high [5,6)");
}

TEST(Messages, ArriveInTheOrderInWhichTheyWereSent) {
  // Pairs of messages, 5 ns apart, take up to 6 ns; a timer reads them when both have come.
  Models models;
  models.executor("e", events).timer("a", milliseconds(1), milliseconds(1));
  models.executor("f", events).timer("b", milliseconds(1), milliseconds(1));
  models.edge("a", "b").chain("ab", {"a", "b"});
  models["a"].execution_time = models["b"].execution_time = {Duration{1}};
  models["b"].activation = model::PeriodicActivation{Duration{100}};
  models.model.edges.back().delay = Duration{6};
  Options options;
  options.releases = ReleaseModel::random;
  for (std::int64_t pair = 0; pair < 1000; ++pair) {
    options.release_times["a"].emplace_back(pair * 100);
    options.release_times["a"].emplace_back(pair * 100 + 5);
  }
  options.offsets["b"] = Duration{50};
  const Simulation simulation = models.run(milliseconds(1), options);
  EXPECT_EQ(simulation.chains[0].latency.count(), 1000);
  EXPECT_EQ(simulation.chains[0].latency.max(), Duration{51 - 5}) << "of the newer message";
}

TEST(Messages, FollowTriggerSets) {  // ros-llama S-1.7, Fig. 3.7
  Models models;
  models.executor("e", events);
  models.timer("1", milliseconds(10), milliseconds(1));
  models.timer("2", milliseconds(20), milliseconds(1));
  models.subscription("3", milliseconds(1), {"1", "2"});
  models.subscription("4", milliseconds(1), {"3"});
  models.subscription("5", milliseconds(1), {});
  models.edge("3", "5");
  models.model.edges.back().triggered_by = {{models.index("1")}};
  const Simulation simulation = models.run(milliseconds(1000));
  EXPECT_EQ(simulation.callbacks[2].activations, 150);
  EXPECT_EQ(simulation.callbacks[3].activations, 150);
  EXPECT_EQ(simulation.callbacks[4].activations, 100) << "what 1 triggers";
}

/// a arrives at 0 10 20 30, b at 25 35, as messages to j.
Models joined(model::JoinKind kind) {
  Models models;
  models.executor("s", events).timer("a", milliseconds(1000), milliseconds(0));
  models.executor("t", events).timer("b", milliseconds(1000), milliseconds(0));
  models.executor("e", events).subscription("j", milliseconds(1), {"a", "b"});
  models.join("j", kind, {"a", "b"}).chain("aj", {"a", "j"}).chain("bj", {"b", "j"});
  return models;
}

std::vector<std::int64_t> starts(const Models& models, const std::string& id,
                                 const Options& options) {
  std::vector<std::int64_t> result;
  for (const TimelineEntry& entry : models.run(milliseconds(500), options).timeline) {
    if (entry.callback != models.index(id)) continue;
    result.push_back(entry.start.time_since_epoch() / milliseconds(1));
  }
  return result;
}

TEST(Messages, JoinOldestWithOldest) {
  const Models models = joined(model::JoinKind::and_);
  Options options;
  options.release_times = {{"a", of({0, 10, 20, 30})}, {"b", of({25, 35, 36, 37, 50})}};
  EXPECT_THAT(starts(models, "j", options), ElementsAre(25, 35, 36, 37));
}

TEST(Messages, JoinTheNewestAndForgetTheOthers) {
  const Models models = joined(model::JoinKind::newest);
  Options options;
  options.release_times = {{"a", of({0, 10, 20, 30, 60})}, {"b", of({25, 35, 36, 37, 70})}};
  EXPECT_THAT(starts(models, "j", options), ElementsAre(25, 35, 60));
  const Simulation simulation = models.run(milliseconds(500), options);
  // Chains go on through the input that completes the set.
  EXPECT_EQ(simulation.chains[0].latency.count(), 1);
  EXPECT_EQ(simulation.chains[1].latency.count(), 2);
  EXPECT_EQ(simulation.chains[1].latency.max(), milliseconds(1));
}

TEST(Messages, AreSampledByTheNextInstanceOfATimer) {
  Models models;
  models.executor("s", events).timer("sensor", milliseconds(1000), milliseconds(0));
  models.executor("e", events).timer("control", milliseconds(50), milliseconds(5));
  models.edge("sensor", "control").chain("c", {"sensor", "control"});
  Options options;
  // 10 waits until 50, 60 is overwritten by 70, which waits until 100.
  options.release_times = {{"sensor", of({10, 60, 70})}};
  const Simulation simulation = models.run(milliseconds(400), options);
  EXPECT_EQ(simulation.chains[0].latency.count(), 2);
  EXPECT_EQ(simulation.chains[0].latency.max(), milliseconds(45));
  EXPECT_EQ(simulation.chains[0].latency.min(), milliseconds(35));
  EXPECT_EQ(simulation.callbacks[1].activations, 8) << "messages do not activate it";
}

/// One figure for each input, also for those whose message a newer one replaces: 60 is over with
/// the output that 70 leads to.
TEST(Messages, HaveAReactionEachAlsoIfTheyAreReplaced) {
  Models models;
  using enum model::CallbackKind;
  models.executor("s", events).timer("sensor", milliseconds(1000), milliseconds(0));
  models["sensor"].kind = subscription;
  models.executor("e", events).timer("control", milliseconds(50), milliseconds(5));
  models.edge("sensor", "control").chain("c", {"sensor", "control"});
  Options options;
  options.release_times = {{"sensor", of({10, 60, 70})}};
  const Simulation simulation = models.run(milliseconds(400), options);
  EXPECT_EQ(simulation.chains[0].reaction_time.count(), 3);
  EXPECT_EQ(simulation.chains[0].reaction_time.max(), milliseconds(45)) << "10 and 60";
  EXPECT_EQ(simulation.chains[0].reaction_time.min(), milliseconds(35)) << "70";
}

/// Inputs of a timer come right after its expiries: after 0, 10 and 20, the last two of which the
/// expiry at 30 replaces.
TEST(Messages, HaveAReactionFromTheExpiryBeforeIfATimerReadsThem) {
  Models models;
  models.executor("s", events).timer("sensor", milliseconds(1000), milliseconds(0));
  models.executor("e", events).timer("control", milliseconds(50), milliseconds(5));
  models.edge("sensor", "control").chain("c", {"sensor", "control"});
  Options options;
  options.release_times = {{"sensor", of({0, 10, 20, 30})}};
  options.offsets["control"] = milliseconds(5);
  const Simulation simulation = models.run(milliseconds(100), options);
  EXPECT_EQ(simulation.chains[0].reaction_time.count(), 3);
  EXPECT_EQ(simulation.chains[0].reaction_time.max(), milliseconds(60)) << "after 0, until 60";
  EXPECT_EQ(simulation.chains[0].reaction_time.min(), milliseconds(40)) << "after 20";
}

/// Inputs of a chain that has no output wait for ever. Other chains are measured all the same.
TEST(Messages, HaveAReactionBesideAChainWithoutOutput) {
  Models models;
  models.executor("s", events).timer("busy", milliseconds(1), milliseconds(0));
  models["busy"].kind = model::CallbackKind::subscription;
  models["busy"].activation = model::PeriodicActivation{std::chrono::microseconds(1)};
  models.executor("t", events).timer("never", milliseconds(10'000), milliseconds(0));
  models.executor("e", events).subscription("join", milliseconds(0), {"busy", "never"});
  models.join("join", model::JoinKind::newest, {"busy", "never"});
  models.executor("u", events).timer("tick", milliseconds(1), milliseconds(0));
  models.executor("f", events).subscription("on tick", milliseconds(0), {"tick"});
  models.chain("silent", {"busy", "join"}).chain("regular", {"tick", "on tick"});
  Options options;
  options.offsets["never"] = milliseconds(9'999);
  options.duration = milliseconds(1'100);
  const Result<Simulation> simulation = simulate(models.model, options);
  ASSERT_TRUE(simulation.has_value()) << simulation.error().message;
  EXPECT_EQ(simulation->chains[0].reaction_time.count(), 0);
  EXPECT_EQ(simulation->chains[1].reaction_time.count(), 1'099)
      << "after each expiry but the first";
  EXPECT_THAT(simulation->warnings,
              ElementsAre("the reaction times of chain \"silent\" lack 600000 inputs, which came "
                          "while 500000 waited for an output"));
}

/// b's activations by its own pattern send nothing to c: they are no inputs of the chain.
TEST(Messages, AreInputsOnlyIfTheyLeadOn) {
  Models models;
  models.executor("s", events).timer("a", milliseconds(100), milliseconds(0));
  models.executor("e", events).subscription("b", milliseconds(0), {"a"});
  models["b"].activation = model::PeriodicActivation{milliseconds(30)};
  models.executor("f", events).subscription("c", milliseconds(2), {"b"});
  models.model.edges.back().triggered_by = {{models.index("a")}};
  models.chain("bc", {"b", "c"});
  const Simulation simulation = models.run(milliseconds(1000));
  EXPECT_EQ(simulation.chains[0].reaction_time.count(), 10);
  EXPECT_EQ(simulation.chains[0].reaction_time.max(), milliseconds(2));
}

TEST(Messages, AreLostOldestFirstWhenAQueueIsFull) {
  Models models;
  models.executor("s", events).timer("burst", milliseconds(1000), milliseconds(0));
  models.executor("e", single_threaded);
  models.timer("long", milliseconds(1000), milliseconds(100));
  models.subscription("sub", milliseconds(1), {"burst"});
  models["sub"].queue_depth = 2;
  Options options;
  options.release_times = {{"burst", of({10, 20, 30, 40})}};
  const Simulation simulation = models.run(milliseconds(500), options);
  EXPECT_EQ(simulation.callbacks[2].discarded, 2);
  EXPECT_EQ(simulation.callbacks[2].response_time.count(), 2);
  EXPECT_EQ(simulation.callbacks[2].response_time.max(), milliseconds(71)) << "sent at 30";
}

TEST(Messages, OfFullQueuesLeaveNoInstanceBehindOnEventsExecutors) {
  Models models;
  models.executor("s", events).timer("burst", milliseconds(1000), milliseconds(0));
  models.executor("e", events);
  models.timer("long", milliseconds(1000), milliseconds(100));
  models.subscription("sub", milliseconds(1), {"burst"});
  models["sub"].queue_depth = 1;
  Options options;
  options.release_times = {{"burst", of({10, 20, 30, 200})}};
  const Simulation simulation = models.run(milliseconds(500), options);
  EXPECT_EQ(simulation.callbacks[2].discarded, 2);
  EXPECT_EQ(simulation.callbacks[2].response_time.count(), 2);
  EXPECT_EQ(simulation.unfinished, 0);
}

TEST(Messages, LeaveAtTheStartIfAsked) {
  Models models;
  models.executor("e", events).timer("a", milliseconds(100), milliseconds(10));
  models.executor("f", events).subscription("b", milliseconds(1), {"a"});
  models.chain("ab", {"a", "b"});
  Options options;
  options.publication = Publication::at_start;
  EXPECT_EQ(models.schedule(milliseconds(50), options), "b [0,1) a [0,10)");
  EXPECT_EQ(models.run(milliseconds(50), options).chains[0].latency.max(), milliseconds(1));
}

TEST(Messages, RunServicesAndClientsInTheirOrder) {
  Models models;
  using enum model::CallbackKind;
  models.executor("caller", single_threaded).timer("call", milliseconds(100), milliseconds(1));
  models.executor("server", single_threaded);
  models.subscription("serve", milliseconds(5), {"call"}, service);
  models.model.callbacks.back().executor = model::ExecutorIndex(1);
  models.subscription("reply", milliseconds(2), {"serve"}, client);
  models["reply"].executor = model::ExecutorIndex(0);
  models.chain("round trip", {"call", "serve", "reply"});
  EXPECT_EQ(models.schedule(milliseconds(50)), "call [0,1) serve [1,6) reply [6,8)");
  EXPECT_EQ(models.run(milliseconds(50)).chains[0].latency.max(), milliseconds(8));
}

TEST(Simulation, RefusesHopelessOverload) {
  Models models;
  models.executor("e", events);
  models.timer("t", milliseconds(1), milliseconds(1000));
  models["t"].activation = model::PeriodicActivation{Duration(10), Duration(0)};
  Options options;
  options.duration = std::chrono::seconds(10);
  const Result<Simulation> result = simulate(models.model, options);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, testing::HasSubstr("the system is overloaded"));
  EXPECT_TRUE(is_overload(result.error()));
  options.duration = Duration{0};
  EXPECT_FALSE(is_overload(simulate(models.model, options).error()));
}

TEST(Simulation, RefusesABurstThatNeverEnds) {
  Models models;
  models.executor("e", events);
  models.timer("t", milliseconds(1), milliseconds(1000));
  models["t"].activation = model::SporadicActivation{Duration(50), std::chrono::hours(24)};
  Options options;
  options.duration = Duration(1);  // within which 1.7 * 10^12 instances are activated
  const Result<Simulation> result = simulate(models.model, options);
  ASSERT_FALSE(result);
  EXPECT_TRUE(is_overload(result.error()));
}

}  // namespace
}  // namespace takt::simulation
