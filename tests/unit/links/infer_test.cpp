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
std::vector<std::string> links_of(Scenario& scenario) {
  Evidence evidence;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(evidence);
  scenario.rewind();
  execution::run(scenario, interpreter, {});
  const execution::Objects& objects = interpreter.database().objects();
  const auto ids = execution::callback_ids(objects);
  std::vector<std::string> found;
  for (const Link& link : inferred_links(evidence, objects, {})) {
    std::string text;
    for (const ObservedCallbackIndex input : link.inputs) {
      text += (text.empty() ? "" : " + ") + ids[input.value()];
    }
    if (link.reader) text += " ~ " + ids[link.reader->value()];
    if (link.matches_stamps) text += " by stamps";
    found.push_back(text);
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

}  // namespace
}  // namespace takt::links
