// A plan decides over nodes that know nothing of it.

#include "takt/plan/plan.hpp"

#include <rcutils/logging.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ros.hpp"
#include "takt/rclcpp/isolated_executors.hpp"

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

TEST_F(PlanTest, TheExecutorOfACallbackGroupIsTheOneThatNamesItsCallbacks) {
  write_plan({{"planned", 1}});
  const auto group = node_->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive);
  ::rclcpp::SubscriptionOptions in_group;
  in_group.callback_group = group;
  const auto ignore = [](const Packet&) {};
  const auto planned = node_->create_subscription<Packet>(unique("planned"), 1, ignore, in_group);
  const auto other = node_->create_subscription<Packet>(unique("other"), 1, ignore);
  const auto base = node_->get_node_base_interface();
  EXPECT_EQ(rclcpp::planned_executor(path_, base, {group}), "e");
  EXPECT_EQ(rclcpp::planned_executor(path_, base, {base->get_default_callback_group()}), "");
  EXPECT_THROW((void)rclcpp::planned_executor("/nowhere", base, {group}), std::invalid_argument);
}

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

/// Keeps what is logged during its life.
class Log {
 public:
  Log() : before_(rcutils_logging_get_output_handler()) {
    lines().clear();
    rcutils_logging_set_output_handler([](const rcutils_log_location_t*, int, const char*,
                                          rcutils_time_point_value_t, const char* format,
                                          va_list* arguments) {
      std::array<char, 1000> line{};
      vsnprintf(line.data(), line.size(), format, *arguments);
      const std::scoped_lock lock(mutex());
      lines().emplace_back(line.data());
    });
  }
  ~Log() { rcutils_logging_set_output_handler(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] std::vector<std::string> copy() const {
    const std::scoped_lock lock(mutex());
    return lines();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex guard;
    return guard;
  }
  static std::vector<std::string>& lines() {
    static std::vector<std::string> logged;
    return logged;
  }

  rcutils_logging_output_handler_t before_;
};

TEST_F(PlanTest, CallbacksOfThePlanThatNobodyHasAreNamedOnce) {
  write_plan({{"there", 1}, {"renamed", 2}});
  const Log log;
  rclcpp::PlannedExecutor executor(path_, "e", options());
  const auto subscription =
      node_->create_subscription<Packet>(unique("there"), 10, [](const Packet&) {});
  executor.add_node(node_);
  std::jthread spinning([&] { executor.spin(); });
  wait_until([&] { return !log.copy().empty(); });
  // A change does not name them again.
  const auto another = node_->create_subscription<Packet>(unique("more"), 10, [](const Packet&) {});
  std::this_thread::sleep_for(std::chrono::seconds(6));
  executor.cancel();
  spinning.join();
  EXPECT_THAT(log.copy(), ElementsAre(testing::HasSubstr("no node here has: renamed.")));
}

TEST_F(PlanTest, WhatAPlanSaysInVainIsLogged) {
  std::ofstream(path_) << R"({"format": "takt/plan", "version": 1, "executors": [
    {"id": "e", "rule": "priority", "callbacks": [], "thredas": 2}]})";
  const Log log;
  const rclcpp::PlannedExecutor executor(path_, "e", options());
  EXPECT_THAT(log.copy(), ElementsAre(testing::HasSubstr("executors[0].thredas: unknown field")));
}

TEST_F(PlanTest, WhatIsWrongWithAPlanIsSaid) {
  EXPECT_THROW(rclcpp::PlannedExecutor("/no/such/plan.json", "", options()), std::invalid_argument);
  write_plan({{"low", 1}});
  EXPECT_THROW(rclcpp::PlannedExecutor(path_, "other", options()), std::invalid_argument);
}

}  // namespace
}  // namespace takt::test
