#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recorded_trace.hpp"
#include "ros.hpp"
#include "takt/executor/client.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/service.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/wait_set_executor.hpp"

namespace takt::executor {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// Orders and arguments as in traces of rclcpp 28 (Jazzy).
class TraceTest : public RosTest {
 protected:
  RecordedTrace trace_;
};

TEST_F(TraceTest, AnnouncesASubscriptionAsRclcppDoes) {
  const auto subscription =
      must(Subscription<Packet>::create(node_, unique("x"), 1, "on_x", [](const Packet&) {}));
  EXPECT_THAT(trace_.events(),
              ElementsAre("rcl_subscription_init(" + unique("x") + ")",
                          "rclcpp_subscription_init(handle of " + unique("x") + ")",
                          "rclcpp_subscription_callback_added(subscription)",
                          "rclcpp_callback_register(callback of subscription, on_x)"));
}

TEST_F(TraceTest, AnnouncesATimerAsRclcppDoes) {
  const auto timer = must(Timer::create(node_, milliseconds(7), "tick", [] {}));
  EXPECT_THAT(trace_.events(),
              ElementsAre("rcl_timer_init(7000000)", "rclcpp_timer_callback_added(timer)",
                          "rclcpp_callback_register(callback of timer, tick)",
                          "rclcpp_timer_link_node(timer)"));
}

TEST_F(TraceTest, AnnouncesAServiceAsRclcppDoes) {
  const auto service = must(Service<Exchange>::create(
      node_, unique("s"), "serve", [](const Exchange::Request&, Exchange::Response&) {}));
  const std::string handle = "handle of " + unique("s");
  EXPECT_THAT(trace_.events(),
              ElementsAre("rcl_service_init(" + unique("s") + ")",
                          "rclcpp_service_callback_added(" + handle + ")",
                          "rclcpp_callback_register(callback of " + handle + ", serve)"));
}

TEST_F(TraceTest, TellsWhatAnExecutorDoesAsRclcppDoes) {
  auto publisher = must(Publisher<Packet>::create(node_, unique("x"), 10));
  std::unique_ptr<WaitSetExecutor> executor;
  std::unique_ptr<Timer> timer = must(Timer::create(node_, milliseconds(1), "tick", [&] {
    must(timer->stop());
    must(publisher.publish(Packet()));
  }));
  const auto subscription = must(Subscription<Packet>::create(
      node_, unique("x"), 1, "on_x", [&](const Packet&) { executor->cancel(); }));
  wait_until([&] { return must(publisher.subscription_count()) == 1; });
  executor = must(
      WaitSetExecutor::create(context_, {timer.get(), subscription.get()}, TimerHandling::polled));
  must(timer->start());
  wait_until([&] { return must(timer->is_due()); });
  trace_.clear();
  must(executor->spin());
  EXPECT_THAT(trace_.events(),
              ElementsAre("get_next_ready", "wait_for_work(-1)", "get_next_ready", "execute(timer)",
                          "callback_start(tick)", "rclcpp_publish", "rcl_publish",
                          "callback_end(tick)", "get_next_ready", "wait_for_work(-1)",
                          "get_next_ready", "execute(handle of " + unique("x") + ")", "rcl_take",
                          "rclcpp_take", "callback_start(on_x)", "callback_end(on_x)"));
}

TEST_F(TraceTest, ShowsAResponseAsTheExecutionOfItsClient) {
  std::unique_ptr<WaitSetExecutor> executor;
  const auto service = must(
      Service<Exchange>::create(node_, unique("s"), "serve",
                                [](const Exchange::Request& request, Exchange::Response& response) {
                                  response.packet.sequence = request.packet.sequence + 1;
                                }));
  std::uint64_t answer = 0;
  const auto client = must(Client<Exchange>::create(node_, unique("s"), "answered",
                                                    [&](const Exchange::Response& response) {
                                                      answer = response.packet.sequence;
                                                      executor->cancel();
                                                    }));
  wait_until([&] { return must(client->has_server()); });
  executor =
      must(WaitSetExecutor::create(context_, {client.get(), service.get()}, TimerHandling::polled));
  Exchange::Request request;
  request.packet.sequence = 41;
  must(client->send(request));
  trace_.clear();
  must(executor->spin());
  EXPECT_EQ(answer, 42U);
  std::vector<std::string> events = trace_.events();
  std::erase_if(events, [](const std::string& event) {
    return event.starts_with("get_next") || event.starts_with("wait_for");
  });
  EXPECT_THAT(events, ElementsAre("callback_start(serve)", "callback_end(serve)",
                                  "execute(client of " + unique("s") + ")",
                                  "callback_start(answered)", "callback_end(answered)"));
}

}  // namespace
}  // namespace takt::executor
