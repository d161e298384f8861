#include <gmock/gmock.h>

#include <map>
#include <set>
#include <utility>

#include "flow_scenario.hpp"

namespace takt::flow {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

FlowOptions declared_only() {
  FlowOptions options;
  options.inference = Inference::off;
  return options;
}

/// A node that receives /a and /b, which are sent when its callbacks end, and publishes /c; times
/// in milliseconds. What it does beyond that is up to the test.
class TwoInputs : public Merger {
 protected:
  std::uint64_t timer = scenario.timer(program, node, std::chrono::milliseconds(8));

  void declare(EventType kind) {
    scenario.add(program, kind, {}, {}, {{on_a.handle, on_b.handle}, {c.handle}});
  }
  /// A message that is sent now and whose callback ends at once; it may publish.
  void receive(const test::Publisher& from, const test::Subscription& by, std::int64_t at,
               bool publishes = false) {
    scenario.now = 1000 * at;
    scenario.publish(outside, from, 1000 + at);
    scenario.take(program, by, 1000 + at);
    scenario.start(program, by.callback);
    if (publishes) {
      scenario.publish(program, c, 5000 + at);
    }
    scenario.end(program, by.callback);
    if (publishes) {
      scenario.handle(after, on_c, 5000 + at, 0);
    }
  }
  void declare_join(const char* kind) {
    scenario.add(program, EventType::inputs_linked, {0}, {kind}, {{on_a.callback, on_b.callback}});
  }
  /// As receive(), but the executor keeps the message until the callback is to run.
  void keep(const test::Publisher& from, const test::Subscription& by, std::int64_t at) {
    scenario.now = 1000 * at;
    scenario.publish(outside, from, 1000 + at);
    scenario.take(program, by, 1000 + at);
    scenario.add(program, EventType::message_kept, {0x100u * static_cast<unsigned>(at)});
  }
  void choose(const test::Subscription& by, std::int64_t kept_at, std::int64_t at) {
    scenario.now = 1000 * at;
    scenario.add(program, EventType::message_chosen, {0x100u * static_cast<unsigned>(kept_at)});
    scenario.run(program, by.callback, 0, std::pair(c, 5000 + at));
    scenario.handle(after, on_c, 5000 + at, 0);
  }
  void lose_a_set() {
    receive(a, on_a, 1);
    keep(b, on_b, 2);     // with what came at 1, and never chosen
    receive(b, on_b, 3);  // waits
    keep(a, on_a, 4);
    choose(on_a, 4, 5);
  }
  void fire(std::int64_t at, bool publishes) {
    scenario.now = 1000 * at;
    scenario.start(program, timer);
    if (publishes) {
      scenario.publish(program, c, 5000 + at);
    }
    scenario.end(program, timer);
    if (publishes) {
      scenario.handle(after, on_c, 5000 + at, 0);
    }
  }
  /// Output and the input of the topic that went into it, in milliseconds.
  static std::vector<std::pair<int, int>> links(const json& document, const std::string& topic) {
    std::vector<std::pair<int, int>> found;
    for (const json& flow : document["flows"]) {
      if (flow["from"] != "/sources:" + topic || flow["to"] != "/sink:/c") {
        continue;
      }
      for (const json& instance : flow["instances"]) {
        const auto output = instance["times"].back()[0].get<std::int64_t>();
        const auto input = instance["begin"].get<std::int64_t>();
        found.emplace_back(output / 1'000'000, input / 1'000'000);
      }
    }
    std::ranges::sort(found);
    return found;
  }

  /// Callbacks hand the messages of /a at 1, 5 and 6 to threads, which publish at 2 and 8.
  json hand_over(std::int64_t second) {
    const Program one = scenario.worker(program, 90);
    const Program other = scenario.worker(program, second);
    scenario.add(program, EventType::message_link_partial_sync, {}, {},
                 {{on_a.handle}, {c.handle}});
    const auto send = [&](const Program& worker, std::int64_t at) {
      scenario.now = 1000 * at;
      scenario.publish(worker, c, 5000 + at);
      scenario.handle(after, on_c, 5000 + at, 0);
    };
    receive(a, on_a, 1);
    send(one, 2);
    receive(a, on_a, 5);
    receive(a, on_a, 6);
    send(other, 8);
    json document = follow(scenario, declared_only());
    EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(2, 1), std::pair(8, 6)));
    return document;
  }

  /// Fact 23.
  void periodic() {
    for (std::int64_t time = 0, last_a = 0, last_b = 0; time <= 32; ++time) {
      if (time % 5 == 0 && time > 0) {
        receive(a, on_a, time);
        last_a = time;
      }
      if (time == 13 || time == 25) {
        receive(b, on_b, time);
        last_b = time;
      }
      if (time % 8 == 0 && time > 0) {
        fire(time, last_a > 0 && last_b > 0);
      }
    }
  }
  /// Facts 25 and 27.
  void partial(int rounds = 1) {
    for (int round = 0; round < rounds; ++round) {
      const std::int64_t origin = 30 * round;
      const std::set<std::int64_t> times_b{4, 8, 12, 16, 21, 24, 28};
      for (std::int64_t time = 1; time <= 30; ++time) {
        if (times_b.contains(time)) {
          receive(b, on_b, origin + time);
        }
        if (time % 10 == 0) {
          receive(a, on_a, origin + time, true);
        }
      }
    }
  }
};

TEST_F(TwoInputs, Fact22And23APeriodicTimerUsesTheNewestOfEachInput) {
  declare(EventType::message_link_periodic_async);
  periodic();
  const json document = follow(scenario, declared_only());
  EXPECT_EQ(document["links"][0]["kind"], "periodic_async");
  EXPECT_EQ(document["links"][0]["origin"], "declared");
  EXPECT_THAT(links(document, "/a"),
              ElementsAre(std::pair(16, 15), std::pair(24, 20), std::pair(32, 30)));
  EXPECT_THAT(links(document, "/b"),
              ElementsAre(std::pair(16, 13), std::pair(24, 13), std::pair(32, 25)));
  EXPECT_THAT(paths(document), ElementsAre("/merger:timer-8ms > /sink:/c",
                                           "? > /merger:/a > /merger:timer-8ms > /sink:/c",
                                           "? > /merger:/b > /merger:timer-8ms > /sink:/c"));
}

TEST_F(TwoInputs, OfANodeThatPublishesInStartUpAloneAreJudgedByThat) {
  for (std::int64_t i = 0; i < 20; ++i) {
    receive(a, on_a, 20 * i + 1);
    receive(b, on_b, 20 * i + 2, true);
    receive(b, on_b, 20 * i + 11);
    receive(a, on_a, 20 * i + 12, true);
  }
  scenario.now += 2'000'000;
  scenario.look(outside);
  EXPECT_EQ(links(follow(scenario), "/a").size(), 40);
}

TEST_F(TwoInputs, WhatIsHandedToAThreadIsKnownIfNothingElseIsLeft) {
  const json flow = hand_over(90)["flows"].at(0);
  EXPECT_EQ(flow["uncertain"], 1);  // the message at 8: of that at 5, or at 6
  EXPECT_EQ(flow["max"], 2'000'000);
  EXPECT_EQ(flow["at_most"]["min"], 1'000'000);
  EXPECT_EQ(flow["at_most"]["max"], 3'000'000);
}

/// One of them may be slow.
TEST_F(TwoInputs, WhatIsHandedToSeveralThreadsIsNotKnown) {
  const json flow = hand_over(91)["flows"].at(0);
  EXPECT_EQ(flow["uncertain"], 2);
  EXPECT_EQ(flow["at_most"], nullptr);
}

TEST_F(TwoInputs, AStoredMessageWaitsForTheTimer) {
  declare(EventType::message_link_periodic_async);
  periodic();
  const json document = follow(scenario, declared_only());
  for (const json& flow : document["flows"]) {
    if (flow["from"] == "/sources:/b") {
      EXPECT_EQ(flow["max"], 11'000'000);
      EXPECT_EQ(flow["breakdown"]["waiting_for_timer"], flow["mean"]);
      EXPECT_EQ(flow["first"]["max"], 7'000'000);
      EXPECT_EQ(flow["last"]["max"], 11'000'000);
    }
  }
}

TEST_F(TwoInputs, Fact32AStoredSampleThatThreeTimersUseHasThreeLeavesWithGrowingLatency) {
  declare(EventType::message_link_periodic_async);
  receive(a, on_a, 1);
  receive(b, on_b, 2);
  for (const std::int64_t time : {8, 16, 24}) {
    fire(time, true);
  }
  const json document = follow(scenario, declared_only());
  std::vector<std::vector<double>> from_a;
  for (const json& flow : document["flows"]) {
    if (flow["from"] == "/sources:/a") from_a.push_back(latencies(flow));
  }
  EXPECT_THAT(from_a, ElementsAre(ElementsAre(7, 15, 23)));
}

TEST_F(TwoInputs, Fact24TheOtherInputIsLinkedByAPartialSyncLink) {
  declare(EventType::message_link_partial_sync);
  receive(b, on_b, 4);
  receive(a, on_a, 10, true);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(paths(document),
              ElementsAre("? > /merger:/a > /sink:/c", "? > /merger:/b > /sink:/c"));
  EXPECT_EQ(document["flows"][0]["from"], "/sources:/b");
  EXPECT_EQ(document["flows"][0]["breakdown"]["waiting_for_input"], 6'000'000);
}

TEST_F(TwoInputs, Fact25OnlyTheLastOfEachInputGoesIntoAnOutput) {
  declare(EventType::message_link_partial_sync);
  partial();
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"),
              ElementsAre(std::pair(10, 10), std::pair(20, 20), std::pair(30, 30)));
  EXPECT_THAT(links(document, "/b"),
              ElementsAre(std::pair(10, 8), std::pair(20, 16), std::pair(30, 28)));
}

TEST_F(TwoInputs, AnExecutorThatKeepsMessagesCompletesSetsWhenTheyCome) {
  declare_join("newest");
  receive(a, on_a, 1);
  keep(b, on_b, 2);
  receive(a, on_a, 3);  // for the next set, although the callback has not run yet
  keep(b, on_b, 4);
  receive(b, on_b, 5);
  choose(on_b, 2, 6);
  choose(on_b, 4, 7);
  keep(a, on_a, 8);
  choose(on_a, 8, 9);
  const json document = follow(scenario, declared_only());
  EXPECT_EQ(document["links"][0]["origin"], "declared");
  EXPECT_THAT(links(document, "/a"),
              ElementsAre(std::pair(6, 1), std::pair(7, 3), std::pair(9, 8)));
  EXPECT_THAT(links(document, "/b"),
              ElementsAre(std::pair(6, 2), std::pair(7, 4), std::pair(9, 5)));
}

TEST_F(TwoInputs, WhatAnExecutorKeptAndLostHasUsedUpItsSet) {
  declare_join("and");
  lose_a_set();
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(5, 4)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(5, 3)));
}

TEST_F(TwoInputs, WhatAnExecutorKeptAndLostHasUsedUpTheNewest) {
  declare_join("newest");
  lose_a_set();
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(5, 4)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(5, 3)));
}

TEST_F(TwoInputs, CallbacksThatCompleteSetsThemselvesDoSoWhenTheyRun) {
  declare_join("newest");
  for (const std::int64_t at : {1, 3}) {
    keep(a, on_a, at);
  }
  keep(b, on_b, 2);
  // The executor keeps everything, and runs what came at 3 before what came at 2.
  for (const std::int64_t at : {1, 3}) {
    scenario.now = 1000 * (at + 3);
    scenario.add(program, EventType::message_chosen, {0x100u * static_cast<unsigned>(at)});
    scenario.run(program, on_a.callback, 0);
  }
  choose(on_b, 2, 7);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(7, 3)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(7, 2)));
}

TEST_F(TwoInputs, AJoinThatQueuesUsesEachMessage) {
  declare_join("and");
  receive(a, on_a, 1);
  receive(a, on_a, 2);
  receive(b, on_b, 3, true);
  receive(b, on_b, 4, true);
  receive(b, on_b, 5);
  receive(a, on_a, 6, true);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"),
              ElementsAre(std::pair(3, 1), std::pair(4, 2), std::pair(6, 6)));
  EXPECT_THAT(links(document, "/b"),
              ElementsAre(std::pair(3, 3), std::pair(4, 4), std::pair(6, 5)));
}

TEST_F(TwoInputs, ASetOfWhichAMessageIsNotInTheTraceHasNoOtherInItsPlace) {
  declare_join("and");
  receive(b, on_b, 1, true);  // with a message from before the trace
  receive(a, on_a, 2);
  receive(b, on_b, 3, true);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(3, 2)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(1, 1), std::pair(3, 3)));
}

TEST_F(TwoInputs, Fact26EitherInputMayTrigger) {
  declare(EventType::message_link_partial_sync);
  receive(a, on_a, 10);
  receive(b, on_b, 14, true);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(14, 10)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(14, 14)));
}

TEST_F(TwoInputs, WhatComesWhileACompletedSetIsComputedIsForTheNext) {
  declare(EventType::message_link_partial_sync);
  const Program worker = scenario.worker(program, 22);
  receive(b, on_b, 4);
  scenario.now = 10'000;
  scenario.publish(outside, a, 1010);
  scenario.take(program, on_a, 1010);
  scenario.start(program, on_a.callback);
  scenario.now = 12'000;
  scenario.publish(outside, b, 1012);
  scenario.take(worker, on_b, 1012);
  scenario.start(worker, on_b.callback);
  scenario.end(worker, on_b.callback);
  scenario.now = 15'000;
  scenario.publish(program, c, 5015);
  scenario.end(program, on_a.callback);
  scenario.handle(after, on_c, 5015, 0);
  receive(a, on_a, 20, true);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(15, 10), std::pair(20, 20)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(15, 4), std::pair(20, 12)));
}

TEST_F(TwoInputs, OfTwoThatOverlapTheOneThatPublishesUsesTheOther) {
  declare(EventType::message_link_partial_sync);
  const Program worker = scenario.worker(program, 22);
  scenario.now = 10'000;
  scenario.publish(outside, a, 1010);
  scenario.publish(outside, b, 1011);
  scenario.take(program, on_a, 1010);
  scenario.take(worker, on_b, 1011);
  scenario.start(program, on_a.callback);
  scenario.start(worker, on_b.callback);
  scenario.now = 11'000;
  scenario.end(program, on_a.callback);
  scenario.publish(worker, c, 5011);
  scenario.end(worker, on_b.callback);
  scenario.handle(after, on_c, 5011, 0);
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"), ElementsAre(std::pair(11, 10)));
  EXPECT_THAT(links(document, "/b"), ElementsAre(std::pair(11, 10)));
}

/// Each timer of a node could use what each of its callbacks stores. Round the loop of nodes, that
/// makes more ways than anybody reads.
TEST(Ambiguity, SeveralTimersOfANodeDoNotMultiplyWays) {
  constexpr std::size_t nodes = 4;
  constexpr std::size_t timers = 8;
  Scenario scenario;
  std::vector<Program> programs;
  std::vector<std::uint64_t> owners;
  for (std::size_t i = 0; i < nodes; ++i) {
    programs.push_back(scenario.program(static_cast<std::int64_t>(i + 1), "h", "program"));
    owners.push_back(scenario.node(programs[i], "node_" + std::to_string(i)));
  }
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::size_t next = (i + 1) % nodes;
    for (std::size_t j = 0; j < timers; ++j) {
      const std::string topic = "/t" + std::to_string(i) + "_" + std::to_string(j);
      const auto out = scenario.publisher(programs[i], owners[i], topic);
      const auto in = scenario.subscription(programs[next], owners[next], topic);
      const auto timer = scenario.timer(programs[i], owners[i], std::chrono::milliseconds(10 + j));
      const auto stamp = static_cast<std::int64_t>(100 * i + j + 1);
      scenario.run(programs[i], timer, 10, std::pair(out, stamp));
      scenario.handle(programs[next], in, stamp, 10);
    }
  }
  const json document = follow(scenario);
  ASSERT_EQ(document["links"].size(), nodes * timers);
  for (const json& link : document["links"]) {
    EXPECT_EQ(link["origin"], "ambiguous");
  }
  EXPECT_EQ(document["flows"].size(), nodes * timers);
  EXPECT_EQ(document["unlinked"]["ways_not_followed"], 0);
}

TEST_F(TwoInputs, Fact27WithoutTheAnnotationOnlyDirectLinksRemain) {
  partial();
  const json document = follow(scenario, declared_only());
  EXPECT_THAT(links(document, "/a"),
              ElementsAre(std::pair(10, 10), std::pair(20, 20), std::pair(30, 30)));
  EXPECT_THAT(links(document, "/b"), IsEmpty());
}

TEST_F(TwoInputs, APeriodicLinkIsInferredFromATimerThatPublishesAndInputsThatNeverDo) {
  periodic();
  const json document = follow(scenario);
  ASSERT_EQ(document["links"].size(), 1u);
  EXPECT_EQ(document["links"][0]["kind"], "periodic_async");
  EXPECT_EQ(document["links"][0]["origin"], "inferred");
  EXPECT_EQ(document["links"][0]["outputs"], json{"/merger:/c"});
  EXPECT_EQ(links(document, "/b").size(), 3u);
}

TEST_F(TwoInputs, AJoinIsInferredWhereEachInputWaitsForTheOther) {
  for (std::int64_t i = 0; i < 6; ++i) {
    receive(i % 2 == 0 ? a : b, i % 2 == 0 ? on_a : on_b, 20 * i + 1);
    receive(i % 2 == 0 ? b : a, i % 2 == 0 ? on_b : on_a, 20 * i + 9, true);
  }
  const json document = follow(scenario);
  ASSERT_EQ(document["links"].size(), 1u);
  EXPECT_EQ(document["links"][0]["kind"], "partial_sync");
  EXPECT_EQ(document["links"][0]["inputs"], (json{"/merger:/a", "/merger:/b"}));
  EXPECT_EQ(links(document, "/a").size(), 6u);
  EXPECT_EQ(links(document, "/b").size(), 6u);
}

TEST_F(TwoInputs, ARelayBesideAnInputThatOnlyCountsIsNoJoin) {
  for (std::int64_t i = 0; i < 20; ++i) {
    for (const std::int64_t time : {1, 3, 5, 7}) {
      receive(b, on_b, 20 * i + time);
    }
    receive(a, on_a, 20 * i + 9, true);
  }
  const json document = follow(scenario);
  EXPECT_THAT(document["links"], IsEmpty());
  EXPECT_EQ(links(document, "/a").size(), 20u);
  EXPECT_THAT(links(document, "/b"), IsEmpty());
}

TEST_F(TwoInputs, ASinkBesideTwoRelaysIsStillASink) {
  const auto on_d = scenario.subscription(program, node, "/d");
  const auto d = scenario.publisher(outside, sources, "/d");
  const auto e = scenario.publisher(program, node, "/e");
  for (std::int64_t i = 0; i < 20; ++i) {
    receive(d, on_d, 20 * i + 1);
    receive(a, on_a, 20 * i + 5, true);
    scenario.publish(outside, b, 9000 + i);
    scenario.handle(program, on_b, 9000 + i, 10, std::pair(e, i));
  }
  const json document = follow(scenario);
  EXPECT_THAT(document["links"], IsEmpty());
  EXPECT_THAT(paths(document),
              ElementsAre("? > /merger:/a > /sink:/c", "? > /merger:/b", "? > /merger:/d"));
}

TEST_F(TwoInputs, AMessageOnItsWayAtTheEndIsNoEndOfFlowsAlsoIfItsCallbackSentNoOther) {
  receive(a, on_a, 1, true);
  scenario.publish(outside, b, 1);
  scenario.handle(program, on_b, 1, 10, std::pair(c, 2));  // nothing handles it
  EXPECT_THAT(paths(follow(scenario)), ElementsAre("? > /merger:/a > /sink:/c"));
}

TEST_F(TwoInputs, TwoRelaysThatPublishOnOneTopicAreNoJoin) {
  for (std::int64_t i = 0; i < 20; ++i) {
    receive(a, on_a, 20 * i + 1, true);
    receive(b, on_b, 20 * i + 7, true);
  }
  const json document = follow(scenario);
  EXPECT_THAT(document["links"], IsEmpty());
  EXPECT_EQ(links(document, "/a").size(), 20u);
  EXPECT_EQ(links(document, "/b").size(), 20u);
}

TEST(Loop, Fact30MessagesThatGoRoundEnd) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "ping");
  const auto other = scenario.node(program, "pong");
  const auto ping = scenario.publisher(program, node, "/ping");
  const auto pong = scenario.publisher(program, other, "/pong");
  const auto on_ping = scenario.subscription(program, other, "/ping");
  const auto on_pong = scenario.subscription(program, node, "/pong");
  scenario.publish(program, ping, 1);
  for (std::int64_t i = 1; i < 50; ++i) {
    scenario.handle(program, on_ping, i, 10, std::pair(pong, i));
    scenario.handle(program, on_pong, i, 10, std::pair(ping, i + 1));
  }
  const json document = follow(scenario, between("ping:ping", "ping:pong"));
  EXPECT_THAT(paths(document), ElementsAre("/ping:/pong > /pong:/ping > /ping:/pong",
                                           "? > /pong:/ping > /ping:/pong"));
  EXPECT_EQ(document["flows"][0]["count"].get<int>() + document["flows"][1]["count"].get<int>(),
            49);
  EXPECT_THAT(follow(scenario)["flows"], IsEmpty());  // nothing ends
}

/// A node whose tf2_ros::MessageFilter keeps messages of /scan until callbacks of /tf find their
/// transforms. Times are in milliseconds.
class MessageFilter : public Merger {
 protected:
  test::Publisher scan = scenario.publisher(outside, sources, "/scan");
  test::Publisher tf = scenario.publisher(outside, sources, "/tf");
  test::Subscription on_scan = scenario.subscription(
      program, node, "/scan", "message_filters::Subscriber<Scan>::subscribe()::{lambda()#1}");
  test::Subscription on_tf = scenario.subscription(program, node, "/tf");

  /// A message comes, and its callback publishes so many.
  void receive(const test::Publisher& from, const test::Subscription& by, std::int64_t at,
               int sends = 0) {
    scenario.now = 1000 * at;
    scenario.publish(outside, from, 10 * at);
    scenario.take(program, by, 10 * at);
    scenario.start(program, by.callback);
    for (int i = 0; i < sends; ++i) scenario.publish(program, c, 10 * at + 1 + i);
    scenario.end(program, by.callback);
    for (int i = 0; i < sends; ++i) scenario.handle(after, on_c, 10 * at + 1 + i, 0);
  }
  /// The ages of the messages of /scan that the messages of /c are made of, in the order of these,
  /// and whether each is known.
  std::vector<std::pair<double, bool>> ages() {
    std::map<std::int64_t, std::pair<double, bool>> found;
    const json document = follow(scenario, between("/scan", "/c"));
    for (const json& flow : document["flows"]) {
      for (const json& instance : flow["instances"]) {
        const auto latency = instance["latency"].get<std::int64_t>();
        found[instance["begin"].get<std::int64_t>() + latency] = {
            static_cast<double>(latency) / 1e6, instance["certain"].get<bool>()};
      }
    }
    std::vector<std::pair<double, bool>> ages;
    for (const auto& [end, age] : found) ages.push_back(age);
    return ages;
  }
};

TEST_F(MessageFilter, OnlyOneMessageThatWaitsIsKnown) {
  for (std::int64_t at = 100; at < 500; at += 100) {
    receive(scan, on_scan, at);
    receive(tf, on_tf, at + 30, 1);
    receive(tf, on_tf, at + 50);
  }
  EXPECT_THAT(ages(), ElementsAre(std::pair(30, true), std::pair(30, true), std::pair(30, true),
                                  std::pair(30, true)));
}

TEST_F(MessageFilter, AMessageWhoseTransformIsThereGoesOnAtOnce) {
  for (std::int64_t at = 100; at < 500; at += 100) {
    receive(tf, on_tf, at - 20);
    receive(scan, on_scan, at, at == 200 ? 1 : 0);
    receive(tf, on_tf, at + 30, at == 200 ? 0 : 1);
  }
  EXPECT_THAT(ages(), ElementsAre(std::pair(30, true), std::pair(0, true), std::pair(30, true),
                                  std::pair(30, true)));
}

/// The first message may have been completed instead of any later one, until one goes on at once.
TEST_F(MessageFilter, AMessageThatIsDroppedMakesTheNextOnesUncertain) {
  for (std::int64_t at = 100; at < 700; at += 100) {
    receive(scan, on_scan, at, at == 400 ? 1 : 0);
    if (at > 100 && at != 400) receive(tf, on_tf, at + 30, 1);
  }
  EXPECT_THAT(ages(), ElementsAre(std::pair(30, false), std::pair(30, false), std::pair(0, true),
                                  std::pair(30, true), std::pair(30, true)));
}

TEST_F(MessageFilter, MessagesThatOneTransformCompletesMayBeInAnyOrder) {
  for (std::int64_t at = 100; at < 400; at += 100) {
    receive(scan, on_scan, at);
    if (at == 200) receive(scan, on_scan, at + 10);
    receive(tf, on_tf, at + 30, at == 200 ? 2 : 1);
  }
  EXPECT_THAT(ages(), ElementsAre(std::pair(30, true), std::pair(20, false), std::pair(30, true)));
}

TEST_F(MessageFilter, MessagesOfSeveralSendersAreUncertain) {
  const auto other = scenario.publisher(outside, sources, "/scan");
  for (std::int64_t at = 100; at < 300; at += 100) {
    receive(at == 100 ? scan : other, on_scan, at);
    receive(tf, on_tf, at + 30, 1);
  }
  EXPECT_THAT(ages(), ElementsAre(std::pair(30, false), std::pair(30, false)));
}

}  // namespace
}  // namespace takt::flow
