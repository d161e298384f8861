#include "takt/links/node_inputs.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace takt::links {
namespace {

TEST(NodeInputs, RememberedStateDoesNotGrowWithTime) {
  NodeInputs inputs;
  const ObservedCallbackIndex one(0);
  const ObservedCallbackIndex two(1);
  const TopicIndex topic(0);
  const auto run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      inputs.add(one, {}, Duration(1));
      inputs.add(two, {topic}, Duration(1));
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
    inputs.add(ObservedCallbackIndex(i), {topic}, Duration(1));
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
    inputs.add(one, {}, Duration(1));
    inputs.add(two, {topic}, Duration(1));
  }
  inputs.add(two, {topic}, Duration(1));  // without the other
  inputs.add(one, {}, Duration(1));
  inputs.add(two, {}, Duration(1));  // with the other, and published nothing
  EXPECT_EQ(inputs.exceptions(model::JoinKind::newest, {one, two}, topic), 2u);
  EXPECT_FALSE(inputs.agrees(model::JoinKind::newest, {one, two}, topic));
  EXPECT_EQ(inputs.absences(model::JoinKind::newest, one, topic), 1u);
  EXPECT_THAT(inputs.usually_present(model::JoinKind::newest, topic),
              testing::ElementsAre(one, two));
  EXPECT_EQ(inputs.exceptions(model::JoinKind::newest, {one, two}, TopicIndex(1)), std::nullopt);
}

}  // namespace
}  // namespace takt::links
