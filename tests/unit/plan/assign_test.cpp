#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model.hpp"
#include "takt/plan/plan.hpp"

namespace takt::plan {
namespace {

using model::CallbackKind;
using scheduling::LocalIndex;
using std::chrono::milliseconds;
using testing::ElementsAre;

class Assign : public testing::Test {
 protected:
  Plan plan_ = make_plan(camera_model(), model::ExecutorKind::fixed_priority, {}).value();

  const Entity timer_ = {.node = "/robot", .kind = CallbackKind::timer, .period = milliseconds(50)};
  const Entity image_ = {.node = "/robot", .kind = CallbackKind::subscription, .topic = "/image"};
};

TEST_F(Assign, FindsEntitiesInWhateverOrderTheyAreMade) {
  const std::vector<Entity> entities = {image_, timer_, image_};
  const Assignment assignment = assign(plan_.executors[0], entities);
  EXPECT_THAT(assignment.callbacks, ElementsAre(LocalIndex(1), LocalIndex(0), LocalIndex(2)));
  EXPECT_TRUE(assignment.missing.empty());
  EXPECT_TRUE(assignment.unplanned.empty());
}

TEST_F(Assign, WhatThePlanDoesNotNameRunsAfterAllOthers) {
  Entity other = timer_;
  other.period = milliseconds(10);
  const std::vector<Entity> entities = {other, timer_};
  const Assignment assignment = assign(plan_.executors[0], entities);
  EXPECT_THAT(assignment.callbacks, ElementsAre(LocalIndex(3), LocalIndex(0)));
  EXPECT_THAT(assignment.unplanned, ElementsAre(0U));
  EXPECT_THAT(assignment.missing, ElementsAre("filter", "log"));
  const auto policy = scheduling::make_policy(assignment.policy, 8);
  policy->release(LocalIndex(3), Instant{});
  policy->release(LocalIndex(0), Instant{});
  EXPECT_EQ(policy->next(), LocalIndex(0));
  EXPECT_EQ(policy->next(), LocalIndex(3));
}

TEST_F(Assign, AThirdSubscriptionIsNotOneOfTheTwoPlanned) {
  const std::vector<Entity> entities = {image_, image_, image_};
  EXPECT_THAT(assign(plan_.executors[0], entities).unplanned, ElementsAre(2U));
}

TEST_F(Assign, AnExecutorThatHasAPartOfTheNodeSeesOnlyItsOwn) {
  // The other two are on an executor of their own, as of another callback group.
  plan_.executors[0].callbacks[1].address.ordinals = {1};
  plan_.executors[0].callbacks[2].address.ordinals = {3};
  const auto found = [&](std::size_t images) {
    return assign(plan_.executors[0], std::vector(images, image_)).callbacks;
  };
  EXPECT_THAT(found(1), ElementsAre(LocalIndex(1)));
  EXPECT_THAT(found(2), ElementsAre(LocalIndex(1), LocalIndex(2)));
  // One that has the whole node sees all of them.
  EXPECT_THAT(found(4), ElementsAre(LocalIndex(3), LocalIndex(1), LocalIndex(4), LocalIndex(2)));
}

TEST_F(Assign, AJoinTakesTheMessagesOfAllItsTopics) {
  plan_.executors[0].callbacks[1].address.topics = {"/image", "/pose"};
  plan_.executors[0].callbacks[1].address.ordinals = {0, 0};
  Entity pose = image_;
  pose.topic = "/pose";
  const std::vector<Entity> entities = {pose, image_};
  EXPECT_THAT(assign(plan_.executors[0], entities).callbacks,
              ElementsAre(LocalIndex(1), LocalIndex(1)));
}

/// A node's subscriptions to one topic are told apart by their order, those of a join among them.
TEST(AssignJoin, CountsItsEntitiesByTopic) {
  model::Model model = camera_model();
  model.callbacks.push_back(model.callbacks[0]);
  model.callbacks.back().id = "pose";
  for (const bool join_comes_first : {true, false}) {
    model::Model joined = model;
    model::Edge& edge = joined.edges.emplace_back();
    edge.from = model::CallbackIndex(3);
    edge.to = model::CallbackIndex(join_comes_first ? 1U : 2U);
    edge.topic = "pose";
    const auto plan = make_plan(joined, model::ExecutorKind::fixed_priority, {});
    ASSERT_TRUE(plan) << plan.error().message;
    const auto read = parse_plan(to_json(*plan), "plan.json");
    ASSERT_TRUE(read) << read.error().message;
    const auto entity = [](const char* topic) {
      return Entity{.node = "/robot", .kind = CallbackKind::subscription, .topic = topic};
    };
    const std::vector<Entity> entities = {entity("/image"), entity("/image"), entity("/pose")};
    const Assignment assignment = assign(read->executors[0], entities);
    const std::size_t join = join_comes_first ? 2 : 3;
    EXPECT_THAT(assignment.callbacks, ElementsAre(LocalIndex(2), LocalIndex(3), LocalIndex(join)));
    EXPECT_THAT(assignment.unplanned, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace takt::plan
