#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "synthesized.hpp"

namespace takt::synthesis {
namespace {

using model::CallbackOrder;
using test::Program;
using test::Subscription;

/// A program with a subscription and a timer in one node and a subscription in another, registered
/// in this order.
class Orders : public testing::Test {
 protected:
  void make() {
    const std::uint64_t one = scenario.node(program, "one");
    const std::uint64_t other = scenario.node(program, "other");
    first = scenario.subscription(program, one, "/a");
    timer = scenario.timer(program, one, std::chrono::milliseconds(10));
    second = scenario.subscription(program, other, "/b");
    scenario.now += 2'000'000;  // start-up is over
  }

  /// The executor finds these ready and runs them. rclcpp's tell of each execution.
  void run(const std::vector<std::uint64_t>& callbacks, bool is_rclcpp) {
    scenario.now += 10'000;
    scenario.wait(program);
    scenario.now += 10;
    for (const std::uint64_t callback : callbacks) {
      scenario.look(program);
      if (is_rclcpp) scenario.add(program, tracepoints::RclcppExecutorExecute{.handle = 1});
      scenario.run(program, callback, 100);
    }
  }

  /// The order of the only executor, and the warnings of the model.
  std::pair<CallbackOrder, std::string> found() {
    const model::Model model = model_of(scenario);
    return {model.executors.at(0).order, model.provenance};
  }

  test::Scenario scenario;
  Program program = scenario.program(1);
  Subscription first;
  Subscription second;
  std::uint64_t timer = 0;
};

TEST_F(Orders, RclcppKeepsCategories) {
  make();
  run({timer, first.callback, second.callback}, true);
  run({timer, second.callback, first.callback}, true);
  EXPECT_EQ(found().first, CallbackOrder::any_in_category);
}

TEST_F(Orders, RclpyGoesNodeByNode) {
  scenario.add(program, tracepoints::ClientLibrary{.name = "rclpy"});
  make();
  run({second.callback, timer, first.callback}, false);
  run({timer, first.callback, second.callback}, false);
  EXPECT_EQ(found().first, CallbackOrder::by_node);
}

TEST_F(Orders, TaktsExecutorsGoByRegistration) {
  scenario.add(program, tracepoints::ExecutorInit{.executor = "e",
                                                  .kind = "single_threaded",
                                                  .timers = "polled",
                                                  .threads = 1,
                                                  .policy = "other"});
  make();
  run({timer, first.callback, second.callback}, false);
  EXPECT_EQ(found().first, CallbackOrder::registered);
}

TEST_F(Orders, OfAnUnknownLibraryNothingIsAssumed) {
  make();
  run({timer, first.callback, second.callback}, false);
  EXPECT_EQ(found().first, CallbackOrder::unknown);
}

TEST_F(Orders, OfTwoLibrariesInOneProcessNothingIsAssumed) {
  scenario.add(program, tracepoints::ClientLibrary{.name = "rclpy"});
  make();
  run({timer, first.callback, second.callback}, true);
  EXPECT_EQ(found().first, CallbackOrder::unknown);
}

TEST_F(Orders, WhatTheRecordingContradictsIsNotAssumed) {
  make();
  run({timer, first.callback, second.callback}, true);
  run({second.callback, timer, first.callback}, true);
  run({first.callback}, true);
  const auto [order, provenance] = found();
  EXPECT_EQ(order, CallbackOrder::unknown);
  EXPECT_THAT(provenance,
              testing::HasSubstr("executor program ran what it found ready together in another "
                                 "order than \\\"any_in_category\\\" in 1 of 2 cases"));
}

/// rclcpp treats subscriptions with a buffer for messages within the process as waitables.
TEST_F(Orders, NothingIsAssumedOfRclcppsBuffers) {
  make();
  run({timer, first.callback}, true);
  scenario.now += 10'000;
  scenario.wait(program);
  scenario.look(program);
  scenario.start(program, second.callback, true);
  scenario.end(program, second.callback);
  EXPECT_EQ(found().first, CallbackOrder::unknown);
}

}  // namespace
}  // namespace takt::synthesis
