#include "takt/links/node_inputs.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace takt::links {
namespace {

execution::CallbackInstance run_of(ObservedCallbackIndex callback) {
  execution::CallbackInstance run;
  run.callback = callback;
  run.end = run.start + Duration(1);
  return run;
}

TEST(NodeInputs, RememberedStateDoesNotGrowWithTime) {
  NodeInputs inputs;
  const ObservedCallbackIndex one(0);
  const ObservedCallbackIndex two(1);
  const TopicIndex topic(0);
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      inputs.add(run_of(one), {});
      inputs.add(run_of(two), {topic});
    }
  };
  run(10);
  const std::size_t situations = inputs.situations();
  run(100'000);
  EXPECT_EQ(inputs.situations(), situations);
  EXPECT_TRUE(inputs.agrees(model::JoinKind::newest, {one, two}, topic));
}

TEST(NodeInputs, MoreInputsThanAMaskHoldsAreNoEvidence) {
  NodeInputs inputs;
  const TopicIndex topic(0);
  std::set<ObservedCallbackIndex> last;
  for (std::size_t i = 0; i < NodeInputs::max_subscriptions + 8; ++i) {
    inputs.add(run_of(ObservedCallbackIndex(i)), {topic});
    last = {ObservedCallbackIndex(i), ObservedCallbackIndex(i - std::min<std::size_t>(i, 1))};
  }
  EXPECT_FALSE(inputs.agrees(model::JoinKind::newest, last, topic));
  EXPECT_EQ(inputs.waits_for(model::JoinKind::newest, last, *last.begin(), topic), 0u);
}

TEST(NodeInputs, ExceptionsAreRunsThatContradictTheJoin) {
  NodeInputs inputs;
  const ObservedCallbackIndex one(0);
  const ObservedCallbackIndex two(1);
  const TopicIndex topic(0);
  for (int i = 0; i < 30; ++i) {
    inputs.add(run_of(one), {});
    inputs.add(run_of(two), {topic});
  }
  inputs.add(run_of(two), {topic});  // without the other
  inputs.add(run_of(one), {});
  inputs.add(run_of(two), {});  // with the other, and published nothing
  EXPECT_EQ(inputs.exceptions(model::JoinKind::newest, {one, two}, topic), 2u);
  EXPECT_FALSE(inputs.agrees(model::JoinKind::newest, {one, two}, topic));
  EXPECT_EQ(inputs.absences(model::JoinKind::newest, one, topic), 1u);
  EXPECT_THAT(inputs.usually_present(model::JoinKind::newest, topic),
              testing::ElementsAre(one, two));
  EXPECT_EQ(inputs.exceptions(model::JoinKind::newest, {one, two}, TopicIndex(1)), std::nullopt);
}

TEST(NodeInputs, RunsThatAnExecutorChoseCompleteSetsHoweverLate) {
  NodeInputs inputs;
  const ObservedCallbackIndex one(0);
  const ObservedCallbackIndex two(1);
  const TopicIndex topic(0);
  const auto run = [&](ObservedCallbackIndex callback, bool was_chosen) {
    execution::CallbackInstance taken = run_of(callback);
    taken.taken = taken.start;
    taken.was_chosen = was_chosen;
    return taken;
  };
  inputs.add(run(one, false), {});
  // The next set's message is kept before the callback of this one's runs.
  inputs.add(run(one, false), {});
  inputs.add(run(two, true), {topic});
  inputs.add(run(two, true), {topic});
  EXPECT_TRUE(inputs.agrees(model::JoinKind::newest, {one, two}, topic));
  inputs.add(run(two, true), {});  // what this set goes on to is another topic
  inputs.add(run(one, false), {topic});
  EXPECT_EQ(inputs.exceptions(model::JoinKind::newest, {one, two}, topic), 1u);
}

}  // namespace
}  // namespace takt::links
