#include "takt/manager/newcomers.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "model_builder.hpp"
#include "takt/manager/manager.hpp"
#include "takt/model/validate.hpp"

namespace takt::manager {
namespace {

using model::ModelBuilder;
using std::chrono::milliseconds;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

/// A sensor (e0), a motor (e1) and, if it has joined, a node (e2) that takes the sensor's messages
/// and sends to the motor, too.
Situation robot(bool has_joined) {
  ModelBuilder builder;
  const auto sensor =
      builder.timer(builder.executor(), milliseconds{2}, model::every(milliseconds{50}));
  const auto motor = builder.subscription(builder.executor(), milliseconds{2});
  builder.chain({sensor, motor}, milliseconds{50});
  if (has_joined) {
    const auto joined = builder.subscription(builder.executor(), milliseconds{2});
    builder.chain({sensor, joined, motor}, milliseconds{50});
  }
  for (model::Chain& chain : builder.model().chains) chain.rank = 1;
  return {.time = Instant{milliseconds{1}},
          .model = builder.model(),
          .missing_goals = {},
          .doubts = {},
          .cores = {.numbers = {0}, .capacity = 0.9}};
}

const Doubt unknown_node{.executor = "e2", .reason = "c2 has to run 10 times first"};

std::vector<std::string> ids(const model::Model& model) {
  std::vector<std::string> result;
  for (const model::Executor& executor : model.executors) result.push_back(executor.id);
  return result;
}

/// Before anything is reserved, nothing is reserved on what is not known.
TEST(Newcomers, AreDoubtsWhereNothingIsReserved) {
  Situation situation = robot(true);
  settle_unknown(situation, {unknown_node}, {});
  EXPECT_THAT(situation.doubts, ElementsAre(unknown_node));
  EXPECT_THAT(situation.unproved, IsEmpty());
  EXPECT_THAT(ids(situation.model), ElementsAre("e0", "e1", "e2"));
}

TEST(Newcomers, AreLeftOutWithTheirWaysAndWhatTheyReachIsUnproved) {
  Situation situation = robot(true);
  settle_unknown(situation, {unknown_node}, {"e0", "e1"});
  EXPECT_THAT(situation.doubts, IsEmpty());
  EXPECT_THAT(situation.unproved, ElementsAre("e1"));
  EXPECT_THAT(ids(situation.model), ElementsAre("e0", "e1"));
  EXPECT_THAT(situation.model.chains, ElementsAre(Field(&model::Chain::id, "chain0")));
  EXPECT_THAT(situation.missing_goals,
              ElementsAre(MissingGoal{"chain1", "c2 has to run 10 times first"}));
  EXPECT_TRUE(model::validate(situation.model, "model"));
}

TEST(Newcomers, KeepTheReservationThatTheyHave) {
  Situation situation = robot(true);
  settle_unknown(situation, {unknown_node}, {"e0", "e1", "e2"});
  EXPECT_THAT(situation.unproved, ElementsAre("e2"));
  EXPECT_THAT(ids(situation.model), SizeIs(3));
}

/// A node beside the robot, which sends it nothing, leads to no reservation.
TEST(Newcomers, ThatLeadNowhereAreDoubts) {
  Situation situation = robot(true);
  std::erase_if(situation.model.edges,
                [](const model::Edge& edge) { return edge.from == model::CallbackIndex{2}; });
  situation.model.chains.pop_back();
  settle_unknown(situation, {unknown_node}, {"e0", "e1"});
  EXPECT_THAT(situation.doubts, ElementsAre(unknown_node));
  EXPECT_THAT(situation.unproved, IsEmpty());
}

/// A way that appears takes no reservation away: the chain is not promised until it is known.
TEST(Newcomers, TakeNoReservationAway) {
  Manager manager;
  const Decision before = manager.decide(robot(false));
  ASSERT_EQ(before.chains.at(0).state, ChainState::guaranteed);
  Situation joined = robot(true);
  settle_unknown(joined, {unknown_node}, {"e0", "e1"});
  const Decision after = manager.decide(joined);
  EXPECT_EQ(after.reservations, before.reservations);
  EXPECT_EQ(after.chains.at(0).state, ChainState::prepared);
  EXPECT_EQ(after.chains.at(1).state, ChainState::unmanaged);
  const Decision known = manager.decide(robot(true));
  EXPECT_EQ(known.chains.at(0).state, ChainState::guaranteed);
  EXPECT_EQ(known.chains.at(1).state, ChainState::guaranteed);
  EXPECT_THAT(known.reservations, Contains(Field(&ReservationDecision::executor, "e2")));
}

/// The way that joined comes first by its name, and its goal cannot be kept.
TEST(Newcomers, TakeNoGuaranteeAwayFromTheOtherWay) {
  Manager manager;
  ASSERT_EQ(manager.decide(robot(false)).chains.at(0).state, ChainState::guaranteed);
  Situation joined = robot(true);
  std::ranges::reverse(joined.model.chains);
  joined.model.chains[0].goal = milliseconds{3};
  const Decision after = manager.decide(joined);
  ASSERT_THAT(after.chains, SizeIs(2));
  EXPECT_EQ(after.chains[0].id, "chain0");
  EXPECT_EQ(after.chains[0].state, ChainState::guaranteed);
  EXPECT_EQ(after.chains[1].state, ChainState::degraded);
}

}  // namespace
}  // namespace takt::manager
