#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "takt/model/order.hpp"

namespace takt::model {
namespace {

/// Two nodes on one executor, registered in turns.
Model two_nodes(CallbackOrder order) {
  Model model;
  model.executors.resize(1);
  model.executors[0].order = order;
  const auto add = [&](std::string id, std::string node, CallbackKind kind) {
    Callback callback;
    callback.id = std::move(id);
    callback.node = std::move(node);
    callback.kind = kind;
    callback.registration = static_cast<std::int64_t>(model.callbacks.size());
    model.callbacks.push_back(callback);
  };
  add("a.sub", "/a", CallbackKind::subscription);
  add("b.timer", "/b", CallbackKind::timer);
  add("a.client", "/a", CallbackKind::client);
  add("a.service", "/a", CallbackKind::service);
  add("b.sub", "/b", CallbackKind::subscription);
  add("b.waitable", "/b", CallbackKind::waitable);
  return model;
}

/// The pairs "one > other" of which only the first may run before the second.
std::vector<std::string> certain(CallbackOrder order) {
  const Model model = two_nodes(order);
  const std::vector<WindowPlace> places = window_places(model);
  std::vector<std::string> pairs;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (i == j || may_precede(places[j], places[i])) continue;
      EXPECT_TRUE(may_precede(places[i], places[j]));
      pairs.push_back(model.callbacks[i].id + " > " + model.callbacks[j].id);
    }
  }
  return pairs;
}

TEST(WindowPlaces, AnyOrderIfNothingIsKnown) {
  EXPECT_THAT(certain(CallbackOrder::unknown), testing::IsEmpty());
}

/// ros-llama S-1.2: every pair has an order.
TEST(WindowPlaces, RegistrationOrdersEachCategory) {
  EXPECT_THAT(certain(CallbackOrder::registered), testing::SizeIs(15));
  EXPECT_THAT(certain(CallbackOrder::registered),
              testing::IsSupersetOf({"b.timer > a.sub", "a.sub > b.sub", "b.sub > a.service",
                                     "a.service > a.client", "a.client > b.waitable"}));
}

/// ros2/rclcpp#2532: as above but for the two subscriptions.
TEST(WindowPlaces, RclcppOrdersCategories) {
  EXPECT_THAT(certain(CallbackOrder::any_in_category), testing::SizeIs(14));
  EXPECT_THAT(certain(CallbackOrder::any_in_category),
              testing::Not(testing::Contains("a.sub > b.sub")));
}

/// rclpy/executors.py: `for node in nodes_to_use`, then its timers, subscriptions, clients,
/// services. What waits for a client's response is a task, though, and runs when all of them have.
TEST(WindowPlaces, RclpyOrdersTheCategoriesOfANode) {
  EXPECT_THAT(certain(CallbackOrder::by_node),
              testing::UnorderedElementsAre("a.sub > a.service", "b.timer > b.sub"));
}

/// rclcpp_action and rclpy.action: one waitable serves all parts of an action.
TEST(WindowPlaces, PartsOfActionsRunAsWaitables) {
  const std::string part = "/drive/_action/send_goal";
  for (const auto order : {CallbackOrder::any_in_category, CallbackOrder::by_node}) {
    EXPECT_EQ(run_as(order, CallbackKind::service, part), CallbackKind::waitable);
    EXPECT_EQ(run_as(order, CallbackKind::service, "/drive"), CallbackKind::service);
  }
  EXPECT_EQ(run_as(CallbackOrder::registered, CallbackKind::service, part), CallbackKind::service);
  Model model = two_nodes(CallbackOrder::any_in_category);
  model.callbacks[3].topic = part;
  const std::vector<WindowPlace> places = window_places(model);
  EXPECT_FALSE(may_precede(places[3], places[2]));
  EXPECT_TRUE(may_precede(places[2], places[3]));
}

/// What is listed is a schedule that each order allows.
TEST(WindowPlaces, CallbacksAreListedInAPossibleOrder) {
  for (const auto order : {CallbackOrder::unknown, CallbackOrder::registered,
                           CallbackOrder::any_in_category, CallbackOrder::by_node}) {
    const Model model = two_nodes(order);
    const std::vector<WindowPlace> places = window_places(model);
    const std::vector<CallbackIndex> listed = callbacks_by_executor(model)[0];
    ASSERT_EQ(listed.size(), model.callbacks.size());
    EXPECT_TRUE(std::ranges::is_sorted(
        listed, {}, [&](CallbackIndex callback) { return places[callback.value()]; }));
  }
}

}  // namespace
}  // namespace takt::model
