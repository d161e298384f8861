// A plan decides over nodes that know nothing of it.

#include "takt/plan/plan.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "ros.hpp"

namespace takt::test {
namespace {

using testing::ElementsAre;

class PlanTest : public RosTest {
 protected:
  PlanTest() { node_ = make_node(/*intra_process=*/true); }
  ~PlanTest() override { std::filesystem::remove(path_); }

  /// Subscriptions of the node by topic, a larger priority more urgent.
  void write_plan(const std::vector<std::pair<std::string, std::int64_t>>& priorities) {
    plan::ExecutorPlan executor{.id = "e", .kind = model::ExecutorKind::fixed_priority};
    executor.policy.rule = scheduling::Rule::priority;
    for (const auto& [topic, priority] : priorities) {
      executor.callbacks.push_back({.id = topic,
                                    .address = {.node = node_->get_fully_qualified_name(),
                                                .kind = model::CallbackKind::subscription,
                                                .topics = {unique(topic)}}});
      executor.policy.callbacks.push_back(
          {.category = scheduling::Category::subscription, .priority = priority});
    }
    plan::Plan plan;
    plan.name = "test";
    plan.executors.push_back(std::move(executor));
    std::ofstream(path_) << plan::to_json(plan);
  }

  std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                ("takt_plan_test_" + std::to_string(getpid()) + ".json");
};

TEST_F(PlanTest, PrioritiesByTopic) {
  write_plan({{"low", 1}, {"high", 2}});
  rclcpp::PlannedExecutor executor(path_, "e", options());
  std::vector<std::string> order;
  std::vector<::rclcpp::Publisher<Packet>::SharedPtr> publishers;
  std::vector<::rclcpp::Subscription<Packet>::SharedPtr> subscriptions;
  for (const std::string topic : {"unplanned", "low", "high"}) {
    publishers.push_back(node_->create_publisher<Packet>(unique(topic), 10));
    subscriptions.push_back(node_->create_subscription<Packet>(
        unique(topic), 10, [&order, topic](const Packet&) { order.push_back(topic); }));
  }
  executor.add_node(node_);
  for (const auto& publisher : publishers) publisher->publish(Packet());
  executor.spin_some();
  EXPECT_THAT(order, ElementsAre("high", "low", "unplanned"));
}

TEST_F(PlanTest, WhatIsWrongWithAPlanIsSaid) {
  EXPECT_THROW(rclcpp::PlannedExecutor("/no/such/plan.json", "", options()), std::invalid_argument);
  write_plan({{"low", 1}});
  EXPECT_THROW(rclcpp::PlannedExecutor(path_, "other", options()), std::invalid_argument);
}

}  // namespace
}  // namespace takt::test
