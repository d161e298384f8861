// What users of rclcpp's executors complain of.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <semaphore>
#include <vector>

#include "ros.hpp"

namespace takt::test {
namespace {

using namespace std::chrono_literals;
using ::rclcpp::CallbackGroupType;
using testing::Each;

Duration processor_time(clockid_t clock = CLOCK_PROCESS_CPUTIME_ID) {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

class ComplaintsTest : public RosTest {
 protected:
  ComplaintsTest() { node_ = make_node(); }
};

TEST_F(ComplaintsTest, ThreadsSleepWhileAMutuallyExclusiveGroupIsBusy) {
  // rclcpp issue 1618 and others: the wait set finds the waiting member ready again and again.
  rclcpp::EventsExecutor executor(options(2));
  std::latch runs(1);
  std::latch may_end(1);
  std::atomic<int> others = 0;
  const auto busy = add_signal(*node_, [&](int) {
    runs.count_down();
    may_end.wait();
  });
  const auto waiting = add_signal(*node_, [&](int) { ++others; });
  executor.add_node(node_);
  std::jthread spinning([&] { executor.spin(); });
  busy->trigger();
  runs.wait();
  for (int i = 0; i < 10; ++i) waiting->trigger();
  const Duration before = processor_time();
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(processor_time() - before, 60ms);
  EXPECT_EQ(others, 0);
  may_end.count_down();
  wait_until([&] { return others == 10; });
  executor.cancel();
}

TEST_F(ComplaintsTest, NoMemberOfAGroupStarves) {
  // rclcpp issue 2402: a member that is always ready was always found first.
  for (const std::size_t threads : {1U, 2U, 4U}) {
    rclcpp::EventsExecutor executor(options(threads));
    const auto node = make_node();
    std::vector<int> greedy_before;
    int greedy_runs = 0;
    std::shared_ptr<Signal> greedy = add_signal(*node, [&](int) {
      ++greedy_runs;
      greedy->trigger();
    });
    std::shared_ptr<Signal> modest = add_signal(*node, [&](int) {
      greedy_before.push_back(std::exchange(greedy_runs, 0));
      if (greedy_before.size() == 100) return executor.cancel();
      modest->trigger();
    });
    executor.add_node(node);
    greedy->trigger();
    modest->trigger();
    executor.spin();
    EXPECT_THAT(greedy_before, Each(testing::Le(2))) << threads << " threads";
  }
}

TEST_F(ComplaintsTest, AnOverloadingTimerDoesNotStarveMessages) {
  rclcpp::EventsExecutor executor(options());
  int timers = 0;
  bool has_run = false;
  const auto message = add_signal(*node_, [&](int) {
    has_run = true;
    executor.cancel();
  });
  const auto timer = node_->create_wall_timer(1ms, [&] {
    // Two more expire meanwhile, so that there is always one that waits.
    std::this_thread::sleep_for(2ms);
    if (++timers == 5) message->trigger();
    // Far more than can have expired before the message came.
    if (timers == 2000) executor.cancel();
  });
  executor.add_node(node_);
  executor.spin();
  EXPECT_TRUE(has_run);
}

TEST_F(ComplaintsTest, AnOverloadingTimerDoesNotStarveServicesAndClients) {
  rclcpp::EventsExecutor executor(options());
  int timers = 0;
  bool has_answer = false;
  const auto service = node_->create_service<Exchange>(
      unique("service"), [](const std::shared_ptr<Exchange::Request>& /*request*/,
                            const std::shared_ptr<Exchange::Response>& /*response*/) {});
  const auto client = node_->create_client<Exchange>(unique("service"));
  ASSERT_TRUE(client->wait_for_service(20s));
  const auto timer = node_->create_wall_timer(1ms, [&] {
    std::this_thread::sleep_for(2ms);
    if (++timers == 5) {
      client->async_send_request(std::make_shared<Exchange::Request>(),
                                 [&](::rclcpp::Client<Exchange>::SharedFuture) {
                                   has_answer = true;
                                   executor.cancel();
                                 });
    }
    if (timers == 5000) executor.cancel();
  });
  executor.add_node(node_);
  executor.spin();
  EXPECT_TRUE(has_answer);
}

TEST_F(ComplaintsTest, AnOverloadOfMessagesDoesNotStarveTimers) {
  rclcpp::EventsExecutor executor(options());
  std::shared_ptr<Signal> greedy = add_signal(*node_, [&](int) { greedy->trigger(); });
  int expiries = 0;
  const auto timer = node_->create_wall_timer(2ms, [&] {
    if (++expiries == 20) executor.cancel();
  });
  executor.add_node(node_);
  greedy->trigger();
  executor.spin();
  EXPECT_EQ(expiries, 20);
}

TEST_F(ComplaintsTest, ATimerKeepsItsRateThoughItsCallbackIsLate) {
  rclcpp::EventsExecutor executor(options());
  constexpr auto period = 4ms;
  std::vector<Duration> expected;
  const auto timer = node_->create_wall_timer(period, [&](const ::rclcpp::TimerInfo& info) {
    expected.emplace_back(info.expected_call_time.nanoseconds());
    EXPECT_GE(info.actual_call_time, info.expected_call_time);
    // Every fifth callback lasts longer than three periods.
    if (expected.size() % 5 == 0) std::this_thread::sleep_for(3 * period + 1ms);
    if (expected.size() == 50) executor.cancel();
  });
  executor.add_node(node_);
  executor.spin();
  for (std::size_t i = 1; i < expected.size(); ++i) {
    EXPECT_EQ(expected[i] - expected[i - 1], Duration(period))
        << "between " << i - 1 << " and " << i;
  }
}

TEST_F(ComplaintsTest, WhatBecomesOfMissedExpiriesIsAnOption) {
  using executor::MissedExpiries;
  constexpr auto period = 4ms;
  const auto clock = std::make_shared<::rclcpp::Clock>(RCL_STEADY_TIME);
  for (const auto missed : {MissedExpiries::all, MissedExpiries::skip, MissedExpiries::latest}) {
    auto wanted = options();
    wanted.missed_expiries = missed;
    rclcpp::EventsExecutor executor(wanted);
    std::vector<Duration> expected;
    const auto timer = node_->create_wall_timer(period, [&](const ::rclcpp::TimerInfo& info) {
      expected.emplace_back(info.expected_call_time.nanoseconds());
    });
    const Duration made(clock->now().nanoseconds());
    executor.add_node(node_);
    // Nobody spins meanwhile.
    std::this_thread::sleep_for(10 * period);
    const Duration late(clock->now().nanoseconds());
    executor.spin_some();
    executor.remove_node(node_);
    if (missed == MissedExpiries::all) {
      EXPECT_GE(expected.size(), 9U);
    } else {
      ASSERT_EQ(expected.size(), 1U);
    }
    if (missed == MissedExpiries::latest) {
      EXPECT_GT(expected.front(), late - period);
    } else {
      EXPECT_LE(expected.front(), made + period);
    }
  }
}

TEST_F(ComplaintsTest, DispatchCostsLessThanWithTheDefaultExecutor) {
  // Processor time of the thread that spins, medians of several runs of both.
  constexpr int callbacks = 500;
  const auto cost = [&](auto& executor, auto& node) {
    const auto topic = unique("dispatched");
    const auto publisher = node->template create_publisher<Packet>(topic, callbacks);
    int runs = 0;
    const auto subscription =
        node->template create_subscription<Packet>(topic, callbacks, [&](const Packet&) {
          if (++runs % callbacks == 0) executor.cancel();
        });
    executor.add_node(node);
    std::vector<Duration> costs;
    for (int run = 0; run < 5; ++run) {
      for (int i = 0; i < callbacks; ++i) publisher->publish(Packet());
      const Duration before = processor_time(CLOCK_THREAD_CPUTIME_ID);
      executor.spin();
      costs.push_back((processor_time(CLOCK_THREAD_CPUTIME_ID) - before) / callbacks);
    }
    std::ranges::nth_element(costs, costs.begin() + 2);
    return costs[2];
  };
  rclcpp::EventsExecutor ours(options());
  ::rclcpp::executors::SingleThreadedExecutor theirs(options().base);
  const auto our_node = make_node(true);
  const auto their_node = make_node(true);
  const Duration our_cost = cost(ours, our_node);
  const Duration their_cost = cost(theirs, their_node);
  EXPECT_LT(our_cost, their_cost);
  RecordProperty("ours_ns", static_cast<int>(our_cost.count()));
  RecordProperty("theirs_ns", static_cast<int>(their_cost.count()));
}

TEST_F(ComplaintsTest, AMillionCallbacksNoneLostOrDoubled) {
  constexpr int parts = 1'000'000;
  constexpr int threads = 4;
  constexpr std::ptrdiff_t waiting_at_once = 1000;
  rclcpp::EventsExecutor executor(options(3));
  std::vector<std::atomic<std::uint8_t>> runs(parts);
  std::counting_semaphore<waiting_at_once> room(waiting_at_once);
  std::atomic<int> total = 0;
  const auto note = [&](int part) {
    ++runs[static_cast<std::size_t>(part)];
    room.release();
    if (++total == parts) executor.cancel();
  };
  std::vector<std::shared_ptr<Signal>> signals;
  std::vector<::rclcpp::CallbackGroup::SharedPtr> groups;
  for (int i = 0; i < threads; ++i) {
    groups.push_back(node_->create_callback_group(
        i % 2 == 0 ? CallbackGroupType::Reentrant : CallbackGroupType::MutuallyExclusive));
    signals.push_back(add_signal(*node_, note, groups.back()));
  }
  executor.add_node(node_);
  std::vector<std::jthread> triggering;
  for (int i = 0; i < threads; ++i) {
    triggering.emplace_back([&, i] {
      for (int part = i; part < parts; part += threads) {
        room.acquire();
        signals[static_cast<std::size_t>(i)]->trigger(part);
      }
    });
  }
  executor.spin();
  EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& count) { return count == 1; }));
}

TEST_F(ComplaintsTest, MembersOfAnExclusiveGroupNeverRunAtOnceAndReentrantOnesDo) {
  rclcpp::EventsExecutor executor(options(3));
  std::atomic<int> inside = 0;
  std::atomic<int> exclusive_runs = 0;
  const auto exclusive = node_->create_callback_group(CallbackGroupType::MutuallyExclusive);
  std::vector<std::shared_ptr<Signal>> members;
  for (int i = 0; i < 3; ++i) {
    members.push_back(add_signal(
        *node_,
        [&](int) {
          EXPECT_EQ(++inside, 1);
          std::this_thread::yield();
          --inside;
          ++exclusive_runs;
        },
        exclusive));
  }
  // Two instances of a reentrant callback meet each other.
  std::latch meeting(2);
  const auto reentrant = node_->create_callback_group(CallbackGroupType::Reentrant);
  const auto meets = add_signal(
      *node_, [&](int) { meeting.arrive_and_wait(); }, reentrant);
  executor.add_node(node_);
  std::jthread spinning([&] { executor.spin(); });
  for (int i = 0; i < 300; ++i) members[static_cast<std::size_t>(i % 3)]->trigger();
  meets->trigger();
  meets->trigger();
  meeting.wait();
  wait_until([&] { return exclusive_runs == 300; });
  executor.cancel();
}

class ComingAndGoing : public ComplaintsTest, public testing::WithParamInterface<std::size_t> {};

TEST_P(ComingAndGoing, EntitiesComeAndGoWhileThreadsSpin) {
  rclcpp::EventsExecutor executor(options(GetParam()));
  executor.add_node(node_);
  std::jthread spinning([&] { executor.spin(); });
  const auto topic = unique("coming_and_going");
  for (int i = 0; i < 100; ++i) {
    std::atomic<int> runs = 0;
    const auto other = make_node(/*intra_process=*/true);
    const auto publisher = other->create_publisher<Packet>(topic, 10);
    auto subscription =
        other->create_subscription<Packet>(topic, 10, [&](const Packet&) { ++runs; });
    const auto timer = other->create_wall_timer(1ms, [] {});
    executor.add_node(other);
    const auto added = add_signal(*other, [&](int) { ++runs; });
    added->trigger();
    publisher->publish(Packet());
    wait_until([&] { return runs == 2; });
    if (i % 2 == 0) {
      executor.remove_node(other);
    } else {
      subscription.reset();
    }
    // A callback that has begun may still run; nothing is told of the rest.
    wait_until([&] { return other.use_count() == 1; });
  }
  executor.cancel();
}

INSTANTIATE_TEST_SUITE_P(Threads, ComingAndGoing, testing::Values(1U, 2U));

TEST_F(ComplaintsTest, WhatADroppedSubscriptionHeldGoesWithItAndItsMessagesDoNotRun) {
  rclcpp::EventsExecutor executor(options());
  std::jthread spinning([&] { executor.spin(); });
  for (const bool within_process : {false, true}) {
    for (const bool by_itself : {false, true}) {
      const auto node = make_node(within_process);
      const auto publisher = node->create_publisher<Packet>("~/topic", 10);
      auto held = std::make_shared<int>();
      const std::weak_ptr<int> is_held = held;
      std::atomic<int> runs = 0;
      ::rclcpp::Subscription<Packet>::SharedPtr subscription;
      subscription = node->create_subscription<Packet>("~/topic", 10, [&, held](const Packet&) {
        ++runs;
        if (by_itself) subscription.reset();
      });
      held.reset();
      wait_until([&] { return publisher->get_subscription_count() > 0; });
      for (int i = 0; i < 3; ++i) publisher->publish(Packet());
      executor.add_node(node);
      wait_until([&] { return runs == (by_itself ? 1 : 3); });
      if (!by_itself) subscription.reset();
      // The executor sleeps meanwhile, and keeps nothing alive.
      wait_until([&] { return is_held.expired(); });
      EXPECT_EQ(runs, by_itself ? 1 : 3);
      executor.remove_node(node);
    }
  }
  executor.cancel();
}

TEST_F(ComplaintsTest, ANodeMovesToAnotherExecutorWhileTheFirstIsBusy) {
  rclcpp::EventsExecutor first{options()};
  rclcpp::EventsExecutor second{options()};
  const auto busy = make_node();
  const auto moving = make_node();
  const auto later = make_node();
  std::binary_semaphore running(0);
  std::binary_semaphore may_end(0);
  std::atomic<bool> came_back = false;
  const auto holding = add_signal(*busy, [&](int) {
    running.release();
    may_end.acquire();
  });
  const auto moved = add_signal(*moving, [&](int) { second.cancel(); });
  const auto last = add_signal(*later, [&](int) { came_back = true; });
  first.add_node(busy);
  first.add_node(moving);
  std::jthread spinning([&] { first.spin(); });
  holding->trigger();
  running.acquire();
  // The first executor can let go of nothing before the callback of what it lets go of has ended.
  first.remove_node(busy);
  first.remove_node(moving);
  second.add_node(moving);
  may_end.release();
  // When it runs what was added last, it has let go of what was removed before.
  first.add_node(later);
  last->trigger();
  wait_until([&] { return came_back.load(); });
  moved->trigger();
  second.spin();
  first.cancel();
}

TEST_F(ComplaintsTest, ACallbackThatHasRemovedANodeOrAGroupIsTheLastOfIt) {
  for (const std::size_t threads : {1U, 2U}) {
    for (const bool by_group : {false, true}) {
      rclcpp::EventsExecutor executor(options(threads));
      const auto node = make_node();
      const auto group =
          node->create_callback_group(CallbackGroupType::MutuallyExclusive, !by_group);
      const auto publisher = node->create_publisher<Packet>("~/topic", 100);
      std::atomic<int> runs = 0;
      std::atomic<bool> is_removed = false;
      std::atomic<bool> ran_on = false;
      ::rclcpp::SubscriptionOptions in_group;
      in_group.callback_group = group;
      // Messages and expiries wait when the group is removed.
      const auto subscription = node->create_subscription<Packet>(
          "~/topic", 100, [&](const Packet&) { ran_on = ran_on || is_removed; }, in_group);
      const auto timer = node->create_wall_timer(
          1ms,
          [&] {
            ran_on = ran_on || is_removed;
            if (++runs != 5) return;
            for (int i = 0; i < 50; ++i) publisher->publish(Packet());
            std::this_thread::sleep_for(20ms);
            if (by_group) {
              executor.remove_callback_group(group);
            } else {
              executor.remove_node(node);
            }
            is_removed = true;
          },
          group);
      wait_until([&] { return publisher->get_subscription_count() > 0; });
      if (by_group) {
        executor.add_callback_group(group, node->get_node_base_interface());
      } else {
        executor.add_node(node);
      }
      std::jthread spinning([&] { executor.spin(); });
      wait_until([&] { return is_removed.load(); });
      std::this_thread::sleep_for(50ms);
      EXPECT_FALSE(ran_on);
      executor.cancel();
    }
  }
}

TEST_F(ComplaintsTest, ACallbackMayRemoveItsOwnNodeAndWhatItThrowsOnAnyThreadComesOut) {
  rclcpp::EventsExecutor executor(options(2));
  const auto node = make_node();
  std::atomic<int> runs = 0;
  const auto signal = add_signal(*node, [&](int) {
    ++runs;
    executor.remove_node(node);
    throw std::logic_error("thrown by a callback");
  });
  executor.add_node(node);
  signal->trigger();
  EXPECT_THROW(executor.spin(), std::logic_error);
  signal->trigger();
  executor.spin_some();
  EXPECT_EQ(runs, 1);
}

TEST_F(ComplaintsTest, ACallbackThatRemovedItsNodeMayDeclareAndRemoveMore) {
  // The executor waits for the end of this callback, before it lets go of the node.
  rclcpp::FixedPriorityExecutor executor(options());
  const auto other = make_node();
  const auto timer = other->create_wall_timer(1h, [] {});
  const auto signal = add_signal(*node_, [&](int) {
    executor.remove_node(node_);
    std::this_thread::sleep_for(50ms);
    executor.set_priority(timer, 1);
    executor.cancel();
    executor.remove_node(other);
  });
  executor.add_node(node_);
  executor.add_node(other);
  signal->trigger();
  executor.spin();
}

TEST_F(ComplaintsTest, AnAddedNodeRunsAlsoWhileASubscriptionIsBeingDestroyed) {
  rclcpp::EventsExecutor executor(options());
  const auto node = make_node(/*intra_process=*/true);
  auto subscription = node->create_subscription<Packet>("~/topic", 10, [](const Packet&) {});
  executor.add_node(node);
  std::jthread spinning([&] { executor.spin(); });
  // A subscription under destruction has gone, but not yet what it receives through.
  const auto waitable = subscription->get_intra_process_waitable();
  subscription.reset();
  std::atomic<bool> has_run = false;
  const auto other = make_node();
  const auto signal = add_signal(*other, [&](int) { has_run = true; });
  executor.add_node(other);
  signal->trigger();
  wait_until([&] { return has_run.load(); });
  executor.cancel();
}

TEST_F(ComplaintsTest, ExpiriesBeforeATimersResetDoNotRunAfterIt) {
  // A watchdog, which a callback resets that lasted longer than its period.
  rclcpp::EventsExecutor executor(options());
  std::vector<Duration> after_reset;
  std::chrono::steady_clock::time_point reset_at;
  constexpr auto period = 30ms;
  const auto watchdog = node_->create_wall_timer(period, [&] {
    if (reset_at == std::chrono::steady_clock::time_point{}) return;
    after_reset.emplace_back(std::chrono::steady_clock::now() - reset_at);
    executor.cancel();
  });
  const auto signal = add_signal(*node_, [&](int) {
    std::this_thread::sleep_for(5 * period);
    reset_at = std::chrono::steady_clock::now();
    watchdog->reset();
  });
  executor.add_node(node_);
  signal->trigger();
  executor.spin();
  EXPECT_THAT(after_reset, Each(testing::Ge(Duration(period))));
}

}  // namespace
}  // namespace takt::test
