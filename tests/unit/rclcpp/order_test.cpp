// The policies decide, over whatever rclcpp brings.

#include <map>
#include <string>
#include <vector>

#include "ros.hpp"

namespace takt::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class OrderTest : public RosTest {
 protected:
  OrderTest() { node_ = make_node(); }

  /// A callback that notes its name.
  std::shared_ptr<Signal> noting(const std::string& name) {
    return add_signal(*node_, [this, name](int) { order_.push_back(name); });
  }

  /// Has it watch what the node has.
  void add_to(rclcpp::Executor& executor) {
    executor.add_node(node_);
    executor.spin_some();
  }

  std::vector<std::string> order_;
};

TEST_F(OrderTest, FirstReleasedFirstRun) {
  rclcpp::EventsExecutor executor(options());
  const auto a = noting("a");
  const auto b = noting("b");
  add_to(executor);
  for (const auto& signal : {b, a, a, b}) signal->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("b", "a", "a", "b"));
}

TEST_F(OrderTest, PrioritiesMayBeDeclaredAtAnyTime) {
  rclcpp::FixedPriorityExecutor executor(options());
  const auto low = noting("low");
  const auto high = noting("high");
  const auto undeclared = noting("undeclared");
  executor.set_priority(low, 1);
  executor.set_priority(high, 2);
  add_to(executor);
  for (const auto& signal : {undeclared, low, high}) signal->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("high", "low", "undeclared"));
  order_.clear();
  for (const auto& signal : {low, high}) signal->trigger();
  executor.set_priority(low, 3);
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("low", "high")) << "also of what waits";
}

TEST_F(OrderTest, DecidesAnewAfterEveryCallback) {
  rclcpp::FixedPriorityExecutor executor(options());
  const auto high = noting("high");
  const auto first = add_signal(*node_, [&](int) {
    order_.push_back("first");
    high->trigger();
  });
  const auto low = noting("low");
  executor.set_priority(high, 2);
  executor.set_priority(low, 1);
  add_to(executor);
  first->trigger();
  executor.spin_once(0ns);
  low->trigger();
  executor.spin_all(0ns);
  EXPECT_THAT(order_, ElementsAre("first", "high", "low"));
}

TEST_F(OrderTest, AMessageHasThePriorityOfItsSubscriptionHoweverItComes) {
  node_ = make_node(/*intra_process=*/true);
  rclcpp::FixedPriorityExecutor executor(options());
  const auto topic = unique("topic");
  const auto publisher = node_->create_publisher<Packet>(topic, 10);
  const auto subscription = node_->create_subscription<Packet>(
      topic, 10, [&](const Packet&) { order_.push_back("subscription"); });
  const auto signal = noting("signal");
  executor.set_priority(subscription, 1);
  add_to(executor);
  signal->trigger();
  publisher->publish(Packet());
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("subscription", "signal"));
}

TEST_F(OrderTest, RateMonotonic) {
  rclcpp::RateMonotonicExecutor executor(options());
  const auto slow = noting("slow");
  const auto undeclared = noting("undeclared");
  ::rclcpp::TimerBase::SharedPtr timer = node_->create_wall_timer(10ms, [&] {
    order_.push_back("timer");
    timer->cancel();
  });
  timer->cancel();
  executor.set_period(slow, 20ms);
  add_to(executor);
  for (const auto& signal : {undeclared, slow}) signal->trigger();
  timer->reset();
  wait_until([&] { return timer->is_ready(); });
  executor.spin_all(0ns);
  EXPECT_THAT(order_, ElementsAre("timer", "slow", "undeclared"));
}

TEST_F(OrderTest, EarliestDeadlineFirst) {
  rclcpp::EdfExecutor executor(options());
  const auto late = noting("late");
  const auto early = noting("early");
  executor.set_deadline(late, 1h);
  executor.set_deadline(early, 1min);
  add_to(executor);
  for (const auto& signal : {late, early}) signal->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("early", "late"));
}

TEST_F(OrderTest, TheLongestDeadlineIsTheLatest) {
  rclcpp::EdfExecutor executor(options());
  const auto late = noting("late");
  const auto early = noting("early");
  executor.set_deadline(late, Duration::max());
  executor.set_deadline(early, 1min);
  add_to(executor);
  for (const auto& signal : {late, early}) signal->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("early", "late"));
}

TEST_F(OrderTest, TheLongestDeadlineOfAChainIsTheLatest) {
  rclcpp::ChainEdfExecutor executor(options());
  const auto late = noting("late");
  const auto early = noting("early");
  executor.add_chain({{late}, Duration::max()});
  executor.add_chain({{early}, 1min});
  add_to(executor);
  for (const auto& signal : {late, early}) signal->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("early", "late"));
}

TEST_F(OrderTest, AChainHasOneInstanceInProgress) {
  rclcpp::ChainEdfExecutor executor(options());
  std::shared_ptr<Signal> tail = noting("tail");
  const auto head = add_signal(*node_, [&](int) {
    order_.push_back("head");
    tail->trigger();
  });
  executor.add_chain({.callbacks = {head, tail}, .deadline = 1s});
  add_to(executor);
  head->trigger();
  head->trigger();
  executor.spin_all(0ns);
  EXPECT_THAT(order_, ElementsAre("head", "tail", "head", "tail"));
}

TEST_F(OrderTest, TheMoreImportantChainFirstAndWithinItTheLaterCallback) {
  rclcpp::ChainPriorityExecutor executor(options());
  std::map<std::string, std::shared_ptr<Signal>> signals;
  for (const std::string name : {"a1", "a2", "b1", "b2", "none"}) signals[name] = noting(name);
  executor.set_chains({{.callbacks = {signals["b1"], signals["b2"]}},
                       {.callbacks = {signals["a1"], signals["a2"]}}});
  add_to(executor);
  for (const std::string name : {"none", "a1", "a2", "b1", "b2"}) signals[name]->trigger();
  executor.spin_some();
  EXPECT_THAT(order_, ElementsAre("b2", "b1", "a2", "a1", "none"));
}

/// Both roots publish on one topic; each message runs with its own root's urgency.
class GraphTest : public OrderTest {
 protected:
  GraphTest() {
    node_ = make_node(/*intra_process=*/true);
    const auto topic = unique("shared");
    const auto publisher = node_->create_publisher<Packet>(topic, 10);
    for (const std::uint64_t root : {0U, 1U}) {
      roots_.push_back(add_signal(*node_, [this, root, publisher](int) {
        order_.push_back("root " + std::to_string(root));
        // While the root of low urgency runs, the other one is released.
        if (root == 0) roots_[1]->trigger();
        Packet packet;
        packet.sequence = root;
        publisher->publish(packet);
      }));
    }
    child_ = node_->create_subscription<Packet>(topic, 10, [this](const Packet& packet) {
      order_.push_back("child of " + std::to_string(packet.sequence));
    });
  }

  void run(rclcpp::Executor& executor) {
    add_to(executor);
    roots_[0]->trigger();
    executor.spin_all(0ns);
    EXPECT_THAT(order_, ElementsAre("root 0", "root 1", "child of 1", "child of 0"));
  }

  std::vector<std::shared_ptr<Signal>> roots_;
  ::rclcpp::Subscription<Packet>::SharedPtr child_;
};

TEST_F(GraphTest, ChildrenInheritThePriorityOfTheirRoot) {
  rclcpp::GraphAwareExecutor executor(options());
  executor.set_priority(roots_[0], 1);
  executor.set_priority(roots_[1], 2);
  run(executor);
}

TEST_F(GraphTest, ChildrenInheritTheDeadlineOfTheirRoot) {
  rclcpp::GraphAwareEdfExecutor executor(options());
  executor.set_deadline(roots_[0], 1h);
  executor.set_deadline(roots_[1], 1min);
  run(executor);
}

TEST_F(OrderTest, ATableStartsCallbacksWithinTheirSlotsAlone) {
  rclcpp::TableDrivenExecutor executor(options());
  std::vector<std::chrono::steady_clock::time_point> starts;
  const auto timed = add_signal(*node_, [&](int) {
    starts.push_back(std::chrono::steady_clock::now());
    if (starts.size() == 5) executor.cancel();
  });
  const auto without_slot = noting("without slot");
  EXPECT_THROW(executor.set_table(10ms, {{5ms, 11ms, timed}}), std::invalid_argument);
  EXPECT_THROW(executor.set_table(10ms, {{5ms, 7ms, timed}, {6ms, 8ms, timed}}),
               std::invalid_argument);
  executor.set_table(20ms, {{10ms, 20ms, timed}});
  add_to(executor);
  const auto offset = [](auto time) { return time.time_since_epoch() % 20ms; };
  wait_until([&] { return offset(std::chrono::steady_clock::now()) < 5ms; });
  const auto before = std::chrono::steady_clock::now();
  without_slot->trigger();
  for (int i = 0; i < 5; ++i) timed->trigger();
  executor.spin();
  // However late it starts then: not before the first instant of its slot after the trigger.
  ASSERT_EQ(starts.size(), 5U);
  const auto into = offset(before);
  EXPECT_GE(starts.front(), into < 10ms ? before - into + 10ms : before);
  EXPECT_THAT(order_, testing::IsEmpty());
}

TEST_F(OrderTest, OneThreadForWhatSeveralCannotShare) {
  EXPECT_THROW(rclcpp::GraphAwareExecutor(options(2)), std::invalid_argument);
  EXPECT_THROW(rclcpp::TableDrivenExecutor(options(2)), std::invalid_argument);
  EXPECT_THROW(rclcpp::EventsExecutor(options(0)), std::invalid_argument);
}

}  // namespace
}  // namespace takt::test
