// What rclcpp's executors do, ours do: every kind of entity, every way of spinning.

#include <atomic>
#include <future>
#include <optional>
#include <rosgraph_msgs/msg/clock.hpp>
#include <vector>

#include "ros.hpp"

namespace takt::test {
namespace {

using namespace std::chrono_literals;
using ::rclcpp::FutureReturnCode;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

template <typename Executor>
class DropInTest : public RosTest {
 protected:
  /// Spins until something has come that is sure to come.
  void spin_until(const std::function<bool()>& come) {
    const auto deadline = std::chrono::steady_clock::now() + 60s;
    while (!come()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      executor_.spin_once(100ms);
    }
  }

  void match(const ::rclcpp::PublisherBase& publisher) {
    wait_until([&] { return publisher.get_subscription_count() > 0; });
  }

  static Packet packet(std::uint64_t sequence) {
    Packet packet;
    packet.sequence = sequence;
    return packet;
  }

  Executor executor_{this->options()};
  std::vector<std::uint64_t> received_;
};

using Executors = testing::Types<rclcpp::EventsExecutor, rclcpp::FixedPriorityExecutor,
                                 rclcpp::RateMonotonicExecutor, rclcpp::EdfExecutor,
                                 rclcpp::ChainEdfExecutor, rclcpp::ChainPriorityExecutor,
                                 rclcpp::GraphAwareExecutor, rclcpp::GraphAwareEdfExecutor>;
TYPED_TEST_SUITE(DropInTest, Executors);

TYPED_TEST(DropInTest, Subscription) {
  this->node_ = this->make_node();
  const auto topic = this->unique("topic");
  auto publisher = this->node_->template create_publisher<Packet>(topic, 10);
  auto subscription = this->node_->template create_subscription<Packet>(
      topic, 10, [&](const Packet& packet) { this->received_.push_back(packet.sequence); });
  this->executor_.add_node(this->node_);
  this->match(*publisher);
  for (std::uint64_t i = 0; i < 3; ++i) publisher->publish(this->packet(i));
  this->spin_until([&] { return this->received_.size() == 3; });
  EXPECT_EQ(this->received_.size(), 3U);
}

TYPED_TEST(DropInTest, SerializedSubscription) {
  this->node_ = this->make_node();
  const auto topic = this->unique("topic");
  auto publisher = this->node_->template create_publisher<Packet>(topic, 10);
  auto subscription = this->node_->template create_subscription<Packet>(
      topic, 10, [&](const std::shared_ptr<const ::rclcpp::SerializedMessage>& serialized) {
        Packet packet;
        ::rclcpp::Serialization<Packet>().deserialize_message(serialized.get(), &packet);
        this->received_.push_back(packet.sequence);
      });
  this->executor_.add_node(this->node_);
  this->match(*publisher);
  publisher->publish(this->packet(7));
  this->spin_until([&] { return !this->received_.empty(); });
  EXPECT_THAT(this->received_, ElementsAre(7));
}

TYPED_TEST(DropInTest, IntraProcessSubscriptionGetsEachMessageOnce) {
  // A second subscription, without intra-process communication, makes the publisher send each
  // message through the middleware too, which brings it to the first subscription again.
  this->node_ = this->make_node(true);
  const auto other = this->make_node(false);
  const auto topic = this->unique("topic");
  std::vector<std::uint64_t> others;
  auto publisher = this->node_->template create_publisher<Packet>(topic, 10);
  auto subscription = this->node_->template create_subscription<Packet>(
      topic, 10,
      [&](std::unique_ptr<Packet> packet) { this->received_.push_back(packet->sequence); });
  auto second = other->template create_subscription<Packet>(
      topic, 10, [&](const Packet& packet) { others.push_back(packet.sequence); });
  this->executor_.add_node(this->node_);
  this->executor_.add_node(other);
  wait_until([&] { return publisher->get_subscription_count() == 2; });
  for (std::uint64_t i = 0; i < 3; ++i) {
    publisher->publish(this->packet(i));
    this->spin_until([&] { return this->received_.size() == i + 1 && others.size() == i + 1; });
  }
  this->executor_.spin_some();
  EXPECT_THAT(this->received_, ElementsAre(0, 1, 2));
  EXPECT_THAT(others, ElementsAre(0, 1, 2));
}

TYPED_TEST(DropInTest, IntraProcessSubscriptionKeepsTheNewestOfItsDepth) {
  this->node_ = this->make_node(true);
  const auto topic = this->unique("topic");
  auto publisher = this->node_->template create_publisher<Packet>(topic, 2);
  auto subscription = this->node_->template create_subscription<Packet>(
      topic, 2, [&](const Packet& packet) { this->received_.push_back(packet.sequence); });
  this->executor_.add_node(this->node_);
  for (std::uint64_t i = 0; i < 5; ++i) publisher->publish(this->packet(i));
  this->executor_.spin_all(0ns);
  std::ranges::sort(this->received_);
  EXPECT_THAT(this->received_, ElementsAre(3, 4));
}

TYPED_TEST(DropInTest, Timer) {
  this->node_ = this->make_node();
  int runs = 0;
  auto timer = this->node_->create_wall_timer(1ms, [&] { ++runs; });
  this->executor_.add_node(this->node_);
  this->spin_until([&] { return runs == 5; });
  timer->cancel();
  this->executor_.spin_all(0ns);
  EXPECT_EQ(runs, 5);
  timer->reset();
  this->spin_until([&] { return runs > 5; });
}

TYPED_TEST(DropInTest, TimerOfSimulatedTime) {
  this->node_ = this->make_node(/*intra_process=*/false, /*simulated_time=*/true);
  const auto clock = this->node_->get_clock();
  // Simulated time comes with messages, the first of which begins it; the test is their publisher.
  auto time = this->node_->template create_publisher<rosgraph_msgs::msg::Clock>("/clock", 1);
  const auto set = [&](std::int32_t seconds) {
    rosgraph_msgs::msg::Clock message;
    message.clock.sec = seconds;
    wait_until([&] {
      time->publish(message);
      return clock->ros_time_is_active() && clock->now().seconds() == seconds;
    });
  };
  set(1);
  int runs = 0;
  auto timer = this->node_->create_timer(10ms, [&] { ++runs; });
  this->executor_.add_node(this->node_);
  this->executor_.spin_once(50ms);
  EXPECT_EQ(runs, 0) << "simulated time stands still";
  set(2);
  this->spin_until([&] { return runs > 0; });
  // The leap was a whole number of periods: the last expiry is due as well.
  this->executor_.spin_all(0ns);
  const int before = runs;
  this->executor_.spin_once(50ms);
  EXPECT_EQ(runs, before);
  set(3);
  this->spin_until([&] { return runs > before; });
}

TYPED_TEST(DropInTest, TimerWithoutPeriodLetsOthersRun) {
  this->node_ = this->make_node();
  int runs = 0;
  auto timer = this->node_->create_wall_timer(0ns, [&] { ++runs; });
  int signalled = 0;
  auto signal = this->add_signal(*this->node_, [&](int) { ++signalled; });
  this->executor_.add_node(this->node_);
  signal->trigger();
  this->spin_until([&] { return runs >= 10; });
  timer->cancel();
  this->executor_.spin_all(0ns);
  EXPECT_EQ(signalled, 1);
}

TYPED_TEST(DropInTest, ServiceAndClient) {
  this->node_ = this->make_node();
  const auto name = this->unique("service");
  auto service = this->node_->template create_service<Exchange>(
      name, [](const std::shared_ptr<Exchange::Request>& request,
               const std::shared_ptr<Exchange::Response>& response) {
        response->packet.sequence = request->packet.sequence + 1;
      });
  auto client = this->node_->template create_client<Exchange>(name);
  this->executor_.add_node(this->node_);
  ASSERT_TRUE(client->wait_for_service(20s));
  auto request = std::make_shared<Exchange::Request>();
  request->packet.sequence = 41;
  auto future = client->async_send_request(request);
  ASSERT_EQ(this->executor_.spin_until_future_complete(future, 60s), FutureReturnCode::SUCCESS);
  EXPECT_EQ(future.get()->packet.sequence, 42U);
}

TYPED_TEST(DropInTest, FutureThatNeverCompletesTimesOut) {
  this->node_ = this->make_node();
  this->executor_.add_node(this->node_);
  std::promise<void> never;
  const auto future = never.get_future().share();
  EXPECT_EQ(this->executor_.spin_until_future_complete(future, 20ms), FutureReturnCode::TIMEOUT);
}

TYPED_TEST(DropInTest, WaitableTellsWhichOfItsPartsIsReady) {
  this->node_ = this->make_node();
  std::vector<int> parts;
  auto signal = this->add_signal(*this->node_, [&](int part) { parts.push_back(part); });
  this->executor_.add_node(this->node_);
  // Watched from now on.
  this->executor_.spin_some();
  for (const int part : {2, 0, 1}) signal->trigger(part);
  this->executor_.spin_all(0ns);
  std::ranges::sort(parts);
  EXPECT_THAT(parts, ElementsAre(0, 1, 2));
}

TYPED_TEST(DropInTest, SpinOnceRunsOneCallback) {
  this->node_ = this->make_node();
  int runs = 0;
  auto signal = this->add_signal(*this->node_, [&](int) { ++runs; });
  this->executor_.add_node(this->node_);
  this->executor_.spin_once(0ns);
  EXPECT_EQ(runs, 0);
  signal->trigger();
  signal->trigger();
  this->executor_.spin_once();
  EXPECT_EQ(runs, 1);
  this->executor_.spin_once(0ns);
  EXPECT_EQ(runs, 2);
}

TYPED_TEST(DropInTest, SpinSomeEndsWithWhatWaitedAndSpinAllWithTheTime) {
  this->node_ = this->make_node();
  int runs = 0;
  std::shared_ptr<Signal> signal = this->add_signal(*this->node_, [&](int) {
    ++runs;
    signal->trigger();
  });
  this->executor_.add_node(this->node_);
  signal->trigger();
  signal->trigger();
  this->executor_.spin_some();
  EXPECT_EQ(runs, 2);
  // More than the two that wait, whenever it gets the time for that.
  int before = 0;
  do {
    before = runs;
    this->executor_.spin_all(20ms);
  } while (runs - before <= 2 && runs < 1000);
  EXPECT_GT(runs - before, 2);
  EXPECT_THROW(this->executor_.spin_all(-1ns), std::invalid_argument);
}

TYPED_TEST(DropInTest, SpinEndsWhenCancelledByACallbackAndMayBeginAnew) {
  this->node_ = this->make_node();
  int runs = 0;
  auto signal = this->add_signal(*this->node_, [&](int) {
    ++runs;
    this->executor_.cancel();
  });
  this->executor_.add_node(this->node_);
  // Without effect, as nothing spins.
  this->executor_.cancel();
  for (int i = 0; i < 3; ++i) {
    signal->trigger();
    this->executor_.spin();
  }
  EXPECT_EQ(runs, 3);
}

TYPED_TEST(DropInTest, SpinEndsWhenCancelledByAnotherThread) {
  this->node_ = this->make_node();
  this->executor_.add_node(this->node_);
  std::jthread spinning([&] { this->executor_.spin(); });
  wait_until([&] { return this->executor_.is_spinning(); });
  EXPECT_THROW(this->executor_.spin(), std::runtime_error);
  EXPECT_THROW(this->executor_.spin_some(), std::runtime_error);
  EXPECT_THROW(this->executor_.spin_once(), std::runtime_error);
  this->executor_.cancel();
}

TYPED_TEST(DropInTest, SpinEndsWithTheContext) {
  this->node_ = this->make_node();
  this->executor_.add_node(this->node_);
  std::jthread spinning([&] { this->executor_.spin(); });
  wait_until([&] { return this->executor_.is_spinning(); });
  this->context_->shutdown("enough");
}

TYPED_TEST(DropInTest, ExceptionsComeOutOfSpinAndNothingIsLost) {
  this->node_ = this->make_node();
  int runs = 0;
  auto signal = this->add_signal(*this->node_, [&](int) {
    if (++runs <= 2) throw std::runtime_error("thrown by a callback");
    this->executor_.cancel();
  });
  this->executor_.add_node(this->node_);
  for (int i = 0; i < 3; ++i) signal->trigger();
  EXPECT_THROW(this->executor_.spin(), std::runtime_error);
  EXPECT_THROW(this->executor_.spin_once(), std::runtime_error);
  this->executor_.spin();
  EXPECT_EQ(runs, 3);
}

TYPED_TEST(DropInTest, NodesComeAndGo) {
  this->node_ = this->make_node();
  int runs = 0;
  auto signal = this->add_signal(*this->node_, [&](int) { ++runs; });
  this->executor_.add_node(this->node_);
  EXPECT_THROW(this->executor_.add_node(this->node_), std::runtime_error);
  signal->trigger();
  this->executor_.spin_some();
  EXPECT_EQ(runs, 1);
  this->executor_.remove_node(this->node_);
  EXPECT_THROW(this->executor_.remove_node(this->node_), std::runtime_error);
  signal->trigger();
  this->executor_.spin_some();
  EXPECT_EQ(runs, 1);
  this->executor_.add_node(this->node_);
  this->executor_.spin_some();
  EXPECT_EQ(runs, 1 + 1) << "what came while nobody looked";
}

TYPED_TEST(DropInTest, CallbackGroupsComeAndGo) {
  this->node_ = this->make_node();
  auto group =
      this->node_->create_callback_group(::rclcpp::CallbackGroupType::MutuallyExclusive,
                                         /*automatically_add_to_executor_with_node=*/false);
  int runs = 0;
  auto signal = this->add_signal(
      *this->node_, [&](int) { ++runs; }, group);
  this->executor_.add_node(this->node_);
  signal->trigger();
  this->executor_.spin_some();
  EXPECT_EQ(runs, 0);
  EXPECT_THAT(this->executor_.get_manually_added_callback_groups(), SizeIs(0));
  EXPECT_THAT(this->executor_.get_automatically_added_callback_groups_from_nodes(), SizeIs(1));
  this->executor_.add_callback_group(group, this->node_->get_node_base_interface());
  this->executor_.spin_some();
  EXPECT_EQ(runs, 1);
  EXPECT_THAT(this->executor_.get_all_callback_groups(), SizeIs(2));
  this->executor_.remove_callback_group(group);
  signal->trigger();
  this->executor_.spin_some();
  EXPECT_EQ(runs, 1);
}

TYPED_TEST(DropInTest, EntitiesOfANodeThatSpins) {
  this->node_ = this->make_node();
  this->executor_.add_node(this->node_);
  std::jthread spinning([&] { this->executor_.spin(); });
  wait_until([&] { return this->executor_.is_spinning(); });
  std::atomic<int> runs = 0;
  auto timer = this->node_->create_wall_timer(1ms, [&] { ++runs; });
  wait_until([&] { return runs > 2; });
  std::weak_ptr gone = timer;
  timer.reset();
  // One callback that runs may keep it until it ends.
  wait_until([&] { return gone.expired(); });
  const int last = runs;
  std::atomic<bool> signalled = false;
  auto signal = this->add_signal(*this->node_, [&](int) { signalled = true; });
  signal->trigger();
  wait_until([&] { return signalled.load(); });
  EXPECT_EQ(runs, last);
  this->executor_.cancel();
}

TYPED_TEST(DropInTest, SpinNodeOnceTakesTheNodeForOneCallback) {
  this->node_ = this->make_node();
  int runs = 0;
  auto signal = this->add_signal(*this->node_, [&](int) { ++runs; });
  signal->trigger();
  this->executor_.spin_node_once(this->node_->get_node_base_interface(), 20s);
  EXPECT_EQ(runs, 1);
  signal->trigger();
  this->executor_.spin_node_some(this->node_);
  EXPECT_EQ(runs, 2);
  EXPECT_THAT(this->executor_.get_all_callback_groups(), SizeIs(0));
}

}  // namespace
}  // namespace takt::test
