#include "takt/links/infer.hpp"

#include <gmock/gmock.h>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/pass.hpp"

namespace takt::links {
namespace {

using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::IsEmpty;

/// The links of a recording, in words: "a + b" for a join, "a ~ timer" for what a timer samples.
std::vector<std::string> links_of(Scenario& scenario, const Declarations* declarations = nullptr) {
  Evidence evidence;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(evidence);
  scenario.rewind();
  execution::run(scenario, interpreter, {});
  const execution::Objects& objects = interpreter.database().objects();
  const auto ids = execution::callback_ids(objects);
  std::vector<std::string> found;
  for (const Link& link : all_links(evidence, objects, declarations).links) {
    std::string text;
    for (const ObservedCallbackIndex input : link.inputs) {
      text += (text.empty() ? "" : " + ") + ids[input.value()];
    }
    if (link.reader) text += " ~ " + ids[link.reader->value()];
    if (link.matches_stamps) text += " by stamps";
    if (link.waits_for_transform) text += " until /tf";
    if (!link.last_is_of_set) text += ", of any age";
    found.push_back(text);
  }
  return found;
}

/// The subscriptions of which nothing shows what becomes of their messages.
std::vector<std::string> unknown_of(Scenario& scenario) {
  Evidence evidence;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(evidence);
  scenario.rewind();
  execution::run(scenario, interpreter, {});
  const execution::Objects& objects = interpreter.database().objects();
  const auto ids = execution::callback_ids(objects);
  std::vector<std::string> found;
  const auto links = all_links(evidence, objects, nullptr).links;
  const Unknown unknown = unknown_uses(evidence, objects, links);
  for (const auto& callbacks : {unknown.subscriptions, unknown.timers}) {
    for (const ObservedCallbackIndex callback : callbacks) found.push_back(ids[callback.value()]);
  }
  return found;
}

/// A node that receives /a and /b and publishes /c.
class Fused : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "fusion");
  test::Publisher c = scenario.publisher(program, node, "/c");
  test::Subscription a = scenario.subscription(program, node, "/a");
  test::Subscription b = scenario.subscription(program, node, "/b");
  std::int64_t stamp = 0;

  /// A message comes; its run lasts `microseconds`.
  void arrive(const test::Subscription& input, bool publishes, std::int64_t microseconds = 300) {
    scenario.now += 1'000;
    ++stamp;
    if (publishes) {
      scenario.handle(program, input, stamp, microseconds, std::pair(c, stamp));
    } else {
      scenario.handle(program, input, stamp, microseconds);
    }
  }
};

TEST_F(Fused, AreInputsThatWaitForEachOtherAlsoIfOneRunInTwentyDoesNotFit) {
  for (int i = 0; i < 40; ++i) {
    arrive(i % 2 == 0 ? a : b, false);
    arrive(i % 2 == 0 ? b : a, true);
  }
  arrive(a, true);  // the message of /b, or its run, was lost
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/a + /fusion:/b"));
}

TEST_F(Fused, AreNotInferredFromFewerThanEightRuns) {
  for (int i = 0; i < 3; ++i) {
    arrive(i % 2 == 0 ? a : b, false);
    arrive(i % 2 == 0 ? b : a, true);
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

TEST_F(Fused, AreNotInferredIfMoreRunsContradictThanFit) {
  for (int i = 0; i < 40; ++i) {
    arrive(a, false);
    arrive(b, i % 4 != 0);
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

TEST_F(Fused, IsNoInputThatIsWorkedOnAndNeverWaitedFor) {
  for (int i = 0; i < 20; ++i) {
    arrive(a, false, 300);
    arrive(b, true);
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

TEST_F(Fused, IsAnInputThatIsOnlyKeptAndAlwaysThere) {
  for (int i = 0; i < 20; ++i) {
    arrive(a, false, 2);
    arrive(b, true);
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/a + /fusion:/b"));
}

/// Whoever uses transforms stores all of them.
TEST_F(Fused, AreNoTransforms) {
  const auto transforms = scenario.subscription(program, node, "/tf");
  const auto of_robot = scenario.subscription(program, node, "/robot/tf_static");
  for (int i = 0; i < 20; ++i) {
    arrive(transforms, false, 2);
    arrive(of_robot, false, 2);
    arrive(b, true);
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

/// The library of actions keeps what a server tells of its goals.
TEST_F(Fused, ATimerOfAnActionsClientSamplesNoStatus) {
  const auto status = scenario.subscription(program, node, "/go/_action/status");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  for (int i = 0; i < 20; ++i) {
    arrive(status, false, 2);
    scenario.now += 1'000;
    scenario.run(program, timer, 10, std::pair(c, ++stamp));
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

/// Nearly every node of a robot tells how it is.
TEST_F(Fused, ATimerThatTellsDiagnosesSamplesNothing) {
  const auto told = scenario.publisher(program, node, "/diagnostics");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  for (int i = 0; i < 20; ++i) {
    arrive(a, false, 2);
    scenario.now += 1'000;
    scenario.run(program, timer, 10, std::pair(told, ++stamp));
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

TEST_F(Fused, ATimerSamplesWhatIsStoredButNoTransforms) {
  const auto transforms = scenario.subscription(program, node, "/tf");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  for (int i = 0; i < 20; ++i) {
    arrive(a, false, 2);
    arrive(transforms, false, 2);
    scenario.now += 1'000;
    scenario.run(program, timer, 10, std::pair(c, ++stamp));
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/a ~ /fusion:timer-10ms"));
}

/// The messages of /a are taken by another timer, those of /b by a callback that publishes them.
TEST_F(Fused, ATimerSamplesWhatOthersTakeAndDoNotPublish) {
  const auto reader = scenario.timer(program, node, std::chrono::milliseconds(3));
  const auto sender = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto passing = scenario.timer(program, node, std::chrono::milliseconds(20));
  const auto d = scenario.publisher(program, node, "/d");
  for (int i = 0; i < 20; ++i) {
    scenario.now += 1'000;
    scenario.start(program, reader);
    scenario.take(program, a, ++stamp);
    scenario.end(program, reader);
    scenario.start(program, passing);
    scenario.take(program, b, ++stamp);
    scenario.publish(program, d, ++stamp);
    scenario.end(program, passing);
    scenario.run(program, sender, 10, std::pair(c, ++stamp));
  }
  EXPECT_THAT(links_of(scenario), testing::UnorderedElementsAre("/fusion:/b ~ /fusion:timer-20ms",
                                                                "/fusion:/a ~ /fusion:timer-10ms",
                                                                "/fusion:/a ~ /fusion:timer-20ms"));
}

/// Each message of /a resets a timer of 5 ms, which runs once after it; or again, if none comes.
TEST_F(Fused, ATimerThatAMessageStartsOnceUsesItAndAWatchdogDoesNot) {
  for (const bool goes_on : {false, true}) {
    SCOPED_TRACE(goes_on);
    Scenario own;
    Program one = own.program(1);
    const auto delayer = own.node(one, "delayer");
    const auto out = own.publisher(one, delayer, "/c");
    const auto in = own.subscription(one, delayer, "/a");
    const auto timer = own.timer(one, delayer, std::chrono::milliseconds(5));
    for (std::int64_t i = 0; i < 20; ++i) {
      own.now += 2'000;
      own.handle(one, in, 3 * i + 1, 10);
      own.now += 5'000;
      own.run(one, timer, 10, std::pair(out, 3 * i + 2));
      if (!goes_on) continue;
      own.now += 4'990;
      own.run(one, timer, 10, std::pair(out, 3 * i + 3));
    }
    if (goes_on) {
      EXPECT_THAT(links_of(own), IsEmpty());
    } else {
      EXPECT_THAT(links_of(own), ElementsAre("/delayer:/a ~ /delayer:timer-5ms"));
    }
  }
}

/// A filter of message_filters may drop messages, and publish a set when a later message comes: the
/// order of arrivals does not tell when a set is complete.
TEST_F(Fused, AreCallbacksOfMessageFiltersWheneverTheyPublish) {
  const std::string symbol = "message_filters.Subscriber.callback";
  const auto left = scenario.subscription(program, node, "/left", symbol);
  const auto right = scenario.subscription(program, node, "/right", symbol);
  for (int i = 0; i < 20; ++i) {
    arrive(left, false);
    arrive(left, false);
    arrive(right, i % 3 == 0);
    arrive(left, i % 3 != 0);
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/left + /fusion:/right by stamps"));
}

const std::string filter_of_cpp = "message_filters::Subscriber<Message>::subscribe()::{lambda()#1}";

/// ApproximateTime in C++ makes a set when a later message comes.
TEST_F(Fused, ASetOfAFilterOfCppMayBeWithoutTheMessageThatCameLast) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const auto right = scenario.subscription(program, node, "/right", filter_of_cpp);
  for (int i = 0; i < 20; ++i) {
    arrive(left, false);
    arrive(right, true);
  }
  EXPECT_THAT(links_of(scenario),
              ElementsAre("/fusion:/left + /fusion:/right by stamps, of any age"));
}

/// What was made before the recording is of nobody knows which language.
TEST_F(Fused, ADeclaredSetIsWithTheMessageThatCameLastWhereItsPolicyOrLanguageIsKnown) {
  using enum Declarations::Join::Kind;
  struct Case {
    std::string symbol;
    Declarations::Join::Kind kind;
    bool is_with_last;
  };
  int number = 0;
  for (const auto& [symbol, kind, is_with_last] :
       {Case{"", approximate_time, false}, Case{"", exact_time, true},
        Case{filter_of_cpp, approximate_time, false}, Case{filter_of_cpp, exact_time, true},
        Case{"message_filters.Subscriber.callback", approximate_time, true}}) {
    Scenario made;
    Program fusing = made.program(1);
    const std::uint64_t fused = made.node(fusing, "fusion");
    const auto out = made.publisher(fusing, fused, "/out");
    const auto left = made.subscription(fusing, fused, "/left", symbol);
    const auto right = made.subscription(fusing, fused, "/right", symbol);
    for (std::int64_t i = 1; i <= 20; ++i) {
      made.now += 1'000;
      made.handle(fusing, left, 2 * i, 300);
      made.now += 1'000;
      made.handle(fusing, right, 2 * i + 1, 300, std::pair(out, 2 * i + 1));
    }
    Declarations declarations;
    declarations.joins.push_back({{"/fusion:/left", "/fusion:/right"}, kind});
    const std::string age = is_with_last ? "" : ", of any age";
    EXPECT_THAT(links_of(made, &declarations),
                ElementsAre("/fusion:/left + /fusion:/right by stamps" + age))
        << number;
    ++number;
  }
}

/// It may be one of several inputs whose others were not seen, so its message is not known either.
TEST_F(Fused, AFilterOfCppThatFitsNoJoinIsNotKnownEither) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  for (int i = 0; i < 20; ++i) {
    arrive(left, i % 2 == 0);
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/left by stamps, of any age"));
}

/// What a callback that receives /tf publishes is of messages that waited for a transform.
TEST_F(Fused, AFilterOfCppWaitsForTransformsWhereTheirCallbackPublishes) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const auto transforms = scenario.subscription(program, node, "/tf");
  for (int i = 0; i < 20; ++i) {
    arrive(left, i % 4 == 0);
    arrive(transforms, i % 4 != 0);
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/left until /tf"));
}

/// The listener may have a node of its own.
TEST_F(Fused, AFilterOfCppWaitsForTransformsThatAnotherNodeOfItsProcessReceives) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const std::uint64_t listener = scenario.node(program, "transform_listener_impl_1");
  const auto transforms = scenario.subscription(program, listener, "/tf");
  for (int i = 0; i < 20; ++i) {
    arrive(left, false);
    arrive(transforms, true);
  }
  EXPECT_THAT(links_of(scenario), ElementsAre("/fusion:/left until /tf"));
}

/// Nothing tells which of two waited, even if one of them was seen to publish.
TEST_F(Fused, TwoFiltersOfCppThatMayWaitForTransformsAreOfUnknownUse) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const auto right = scenario.subscription(program, node, "/right", filter_of_cpp);
  const auto transforms = scenario.subscription(program, node, "/tf");
  for (int i = 0; i < 20; ++i) {
    arrive(left, i % 4 == 0);
    arrive(right, false);
    arrive(transforms, i % 4 != 0);
  }
  EXPECT_THAT(unknown_of(scenario), ElementsAre("/fusion:/left", "/fusion:/right"));
}

/// What a callback passes on it may keep for a timer, too.
TEST_F(Fused, ATimerThatPublishesBesideACallbackThatPassesOnIsOfUnknownUse) {
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(3));
  const auto other = scenario.publisher(program, node, "/d");
  for (int i = 0; i < 20; ++i) {
    arrive(a, true);
    scenario.run(program, timer, 100, std::pair(other, 1'000 + i));
  }
  EXPECT_THAT(unknown_of(scenario), ElementsAre("/fusion:timer-3ms"));
}

TEST_F(Fused, ATimerOfANodeThatReceivesNothingIsNotOfUnknownUse) {
  const std::uint64_t alone = scenario.node(program, "alone");
  const auto timer = scenario.timer(program, alone, std::chrono::milliseconds(3));
  const auto other = scenario.publisher(program, alone, "/d");
  for (int i = 0; i < 20; ++i) {
    arrive(a, true);
    scenario.run(program, timer, 100, std::pair(other, 1'000 + i));
  }
  EXPECT_THAT(unknown_of(scenario), IsEmpty());
}

/// Sets that are more than its messages use them again: that is LatestTime, or no filter of sets.
TEST_F(Fused, AFilterThatMakesMoreSetsThanItHasMessagesUsesTheNewest) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const auto right = scenario.subscription(program, node, "/right", filter_of_cpp);
  for (int i = 0; i < 40; ++i) {
    arrive(left, true);
    if (i % 4 == 0) arrive(right, true);
  }
  EXPECT_THAT(links_of(scenario), IsEmpty());
}

/// LatestTime as message_filters documents it: the input of the highest rate at that time alone
/// completes sets, each with the newest message of the other.
TEST_F(Fused, AFilterThatUsesMessagesAgainAndNotAtEachMessageUsesTheNewest) {
  const auto left = scenario.subscription(program, node, "/left", filter_of_cpp);
  const auto right = scenario.subscription(program, node, "/right", filter_of_cpp);
  for (int i = 0; i < 80; ++i) {
    arrive(left, true);
    if (i % 4 == 0) arrive(right, i % 8 == 0);
  }
  EXPECT_THAT(links_of(scenario), testing::UnorderedElementsAre("/fusion:/left ~ /fusion:/right",
                                                                "/fusion:/right ~ /fusion:/left"));
}

}  // namespace
}  // namespace takt::links
