#include "takt/execution/identities.hpp"

#include <gmock/gmock.h>

#include "scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {
namespace {

using test::Program;
using test::Publisher;
using test::Scenario;
using testing::ElementsAre;
using testing::Pair;

constexpr std::int64_t a_second = 1'000'000;  // µs

/// How often each callback ran, by its id, and what activated instances.
struct Counter final : Observer {
  std::map<std::string, int> runs;
  std::map<std::string, int> activated;
  std::map<InstanceId, std::string> unknown;
  CallbackIds ids;

  void on_instance(const Database& database, const CallbackInstance& instance) override {
    const std::string& id = ids.of(database.objects(), instance.callback);
    ++runs[id];
    if (instance.source != PublicationId::none) {
      ++activated[id];
    } else {
      unknown[instance.id] = id;
    }
  }
  void on_late_source(const Database&, InstanceId instance, PublicationId) override {
    ++activated[unknown[instance]];
  }
};

class IdentitiesTest : public testing::Test {
 protected:
  Scenario scenario;
  Counter seen;
  Interpreter interpreter{scenario.threads()};
  std::int64_t stamp = 0;

  const std::map<std::string, int>& run() {
    interpreter.add(seen);
    execution::run(scenario, interpreter, {});
    return seen.runs;
  }
  /// A node that receives /s, and handles `count` messages, one every 100 ms.
  test::Subscription relay(Program& program) {
    const auto node = scenario.node(program, "relay");
    return scenario.subscription(program, node, "/s");
  }
  void handle(const Program& program, const test::Subscription& subscription, int count) {
    for (int i = 0; i < count; ++i) {
      scenario.handle(program, subscription, ++stamp, 1000);
      scenario.now += 99'000;
    }
  }
};

TEST_F(IdentitiesTest, AProcessThatIsStartedAgainIsOneThing) {
  Program first = scenario.program(1);
  const auto before = relay(first);
  handle(first, before, 10);
  scenario.now += 2 * a_second;
  Program again = scenario.program(2);
  const auto after = relay(again);
  scenario.now += a_second;
  handle(again, after, 7);
  EXPECT_THAT(run(), ElementsAre(Pair("/relay:/s", 17)));
  const Objects& objects = interpreter.database().objects();
  const auto goes_on = std::ranges::count_if(
      objects.nodes, [](const Node& node) { return node.continues.has_value(); });
  EXPECT_EQ(goes_on, 1);
}

TEST_F(IdentitiesTest, AProcessThatEndedBeforeItHandledAnythingIsTheSameThing) {
  Program first = scenario.program(1);
  relay(first);
  scenario.now += 2 * a_second;
  Program again = scenario.program(2);
  const auto after = relay(again);
  handle(again, after, 7);
  run();
  const Objects& objects = interpreter.database().objects();
  EXPECT_THAT(callback_ids(objects), testing::Each("/relay:/s"));
  ASSERT_EQ(objects.nodes.size(), 2);
  EXPECT_EQ(objects.nodes[0].continues, NodeIndex(1));
  EXPECT_EQ(objects.subscriptions[0].callback, objects.subscriptions[1].callback);
  EXPECT_EQ(objects.subscriptions[0].node, NodeIndex(1));
}

TEST_F(IdentitiesTest, TwoProcessesThatLiveAtTheSameTimeAreTwo) {
  Program first = scenario.program(1);
  const auto before = relay(first);
  handle(first, before, 10);
  Program other = scenario.program(2);
  const auto after = relay(other);
  for (int i = 0; i < 5; ++i) {
    handle(first, before, 1);
    handle(other, after, 1);
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/relay:/s", 15), Pair("/relay:/s#2", 5)));
}

TEST_F(IdentitiesTest, ANodeThatIsSilentWhileAnotherOfItsNameBeginsLives) {
  Program first = scenario.program(1);
  const auto before = relay(first);
  handle(first, before, 10);
  Program other = scenario.program(2);
  const auto after = relay(other);
  scenario.now += 2 * a_second;
  handle(other, after, 5);
  scenario.now += 60 * a_second;
  handle(first, before, 3);
  EXPECT_THAT(run(), ElementsAre(Pair("/relay:/s", 13), Pair("/relay:/s#2", 5)));
}

TEST_F(IdentitiesTest, AProcessWhoseOtherCallbacksGoOnLives) {
  Program first = scenario.program(1);
  const auto before = relay(first);
  const auto timer = scenario.timer(first, scenario.node(first, "other"), std::chrono::seconds(9));
  handle(first, before, 10);
  Program other = scenario.program(2);
  const auto after = relay(other);
  scenario.now += 2 * a_second;
  handle(other, after, 5);
  scenario.run(first, timer, 100);
  EXPECT_THAT(run(), testing::IsSupersetOf({Pair("/relay:/s", 10), Pair("/relay:/s#2", 5)}));
}

TEST_F(IdentitiesTest, WhereNobodyCanLookAheadNothingIsTakenForAnother) {
  Program first = scenario.program(1);
  const auto before = relay(first);
  handle(first, before, 10);
  scenario.now += 2 * a_second;
  Program other = scenario.program(2);
  handle(other, relay(other), 5);
  interpreter.add(seen);
  events::Batch batch;
  scenario.drain(batch);
  scenario.no_look_ahead();
  interpreter.consume(batch);
  EXPECT_THAT(seen.runs, ElementsAre(Pair("/relay:/s", 10), Pair("/relay:/s#2", 5)));
}

TEST_F(IdentitiesTest, ANodeThatIsMadeAnewInItsProcessIsOneThing) {
  Program program = scenario.program(1);
  for (int i = 0; i < 3; ++i) handle(program, relay(program), 4);
  EXPECT_THAT(run(), ElementsAre(Pair("/relay:/s", 12)));
}

TEST_F(IdentitiesTest, TwoNodesOfOneNameThatLiveInAProcessAreTwo) {
  Program program = scenario.program(1);
  const auto one = relay(program);
  const auto other = relay(program);
  for (int i = 0; i < 4; ++i) {
    handle(program, one, 1);
    handle(program, other, 1);
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/relay:/s", 4), Pair("/relay:/s#2", 4)));
}

TEST_F(IdentitiesTest, TwoAlikeTimersOfANodeAreTwo) {
  using std::chrono::milliseconds;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto one = scenario.timer(program, node, milliseconds(20));
  for (int i = 0; i < 3; ++i, scenario.now += 20'000) scenario.run(program, one, 100);
  const auto other = scenario.timer(program, node, milliseconds(20));
  for (int i = 0; i < 3; ++i, scenario.now += 20'000) {
    scenario.run(program, one, 100);
    scenario.run(program, other, 100);
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/n:timer-20ms", 6), Pair("/n:timer-20ms#2", 3)));
}

/// What a service's callback makes whenever it runs, as change_state of a node with a life cycle.
TEST_F(IdentitiesTest, WhatIsMadeAnewWheneverACallbackRunsIsOneThing) {
  using std::chrono::milliseconds;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto service = scenario.service(program, node, "/n/change_state");
  for (int activation = 0; activation < 3; ++activation) {
    scenario.start(program, service.callback);
    const auto timer = scenario.timer(program, node, milliseconds(20));
    const auto other = scenario.timer(program, node, milliseconds(20));
    scenario.end(program, service.callback);
    for (int i = 0; i < 5; ++i) {
      scenario.now += 20'000;
      scenario.run(program, timer, 100);
      scenario.run(program, other, 100);
    }
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/n:/n/change_state", 3), Pair("/n:timer-20ms", 15),
                                 Pair("/n:timer-20ms#2", 15)));
  EXPECT_TRUE(seen.activated.empty());
}

/// rclcpp::wait_for_message makes a subscription for each message that a thread waits for.
TEST_F(IdentitiesTest, WhatAThreadMakesForOneMessageAfterTheOtherIsOneThing) {
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto out = scenario.publisher(program, node, "/out");
  for (int i = 0; i < 10; ++i, scenario.now += 20'000) {
    const auto waiting = scenario.subscription(program, node, "/in");
    scenario.take(program, waiting, ++stamp);
    scenario.publish(program, out, ++stamp);
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/n:/in", 10)));
}

TEST_F(IdentitiesTest, WhatIsMadeInAStepOfALifeCycleIsOneThing) {
  using std::chrono::milliseconds;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const std::uint64_t machine = program.handle();
  scenario.add(program, tracepoints::RclLifecycleStateMachineInit{.node_handle = node,
                                                                  .state_machine = machine});
  const auto go = [&](std::string_view from, std::string_view to) {
    scenario.add(program, tracepoints::RclLifecycleTransition{
                              .state_machine = machine, .start_label = from, .goal_label = to});
  };
  for (int activation = 0; activation < 3; ++activation) {
    go("inactive", "activating");
    const auto timer = scenario.timer(program, node, milliseconds(20));
    go("activating", "active");
    for (int i = 0; i < 5; ++i, scenario.now += 20'000) scenario.run(program, timer, 100);
    go("active", "deactivating");
    go("deactivating", "inactive");
  }
  EXPECT_THAT(run(), ElementsAre(Pair("/n:timer-20ms", 15)));
}

/// Timers that a subscription makes for each message, which fire once after `delay`.
class Shots : public IdentitiesTest {
 protected:
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "n");
  test::Subscription input = scenario.subscription(program, node, "/x");

  /// Messages every 30 ms.
  void shoot(int count, std::chrono::milliseconds delay) {
    std::vector<std::pair<std::int64_t, std::uint64_t>> waiting;
    const auto fire_until = [&](std::int64_t time) {
      while (!waiting.empty() && waiting.front().first <= time) {
        scenario.now = waiting.front().first;
        scenario.run(program, waiting.front().second, 100);
        waiting.erase(waiting.begin());
      }
    };
    for (int i = 1; i <= count; ++i) {
      fire_until(i * 30'000);
      scenario.now = i * 30'000;
      scenario.take(program, input, ++stamp);
      scenario.start(program, input.callback);
      waiting.emplace_back(scenario.now + delay / std::chrono::microseconds(1),
                           scenario.timer(program, node, delay));
      scenario.now += 200;
      scenario.end(program, input.callback);
    }
    fire_until(std::numeric_limits<std::int64_t>::max());
  }
};

TEST_F(Shots, AreOneCallbackThatWhatMakesItActivates) {
  shoot(20, std::chrono::milliseconds(12));
  EXPECT_THAT(run(), ElementsAre(Pair("/n:/x", 20), Pair("/n:timer-12ms", 20)));
  EXPECT_THAT(seen.activated, ElementsAre(Pair("/n:timer-12ms", 20)));
}

TEST_F(Shots, MayWaitAtTheSameTime) {
  shoot(20, std::chrono::milliseconds(80));
  EXPECT_THAT(run(), ElementsAre(Pair("/n:/x", 20), Pair("/n:timer-80ms", 20)));
  EXPECT_THAT(seen.activated, ElementsAre(Pair("/n:timer-80ms", 20)));
}

}  // namespace
}  // namespace takt::execution
