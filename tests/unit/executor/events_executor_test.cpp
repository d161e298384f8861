#include "takt/executor/events_executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ros.hpp"
#include "takt/executor/client.hpp"
#include "takt/executor/origin.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/service.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/waitable.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/linux/thread_identity.hpp"
#include "takt/scheduling/events.hpp"
#include "takt/scheduling/graph_aware.hpp"
#include "takt/scheduling/table_driven.hpp"
#include "takt/scheduling/wait_set.hpp"

namespace takt::executor {
namespace {

using scheduling::LocalIndex;
using std::chrono::milliseconds;
using testing::ElementsAre;

constexpr std::size_t capacity = 16;

class EventsExecutorTest : public RosTest {
 protected:
  Waitable& waitable(std::function<void()> function) {
    auto made = must(Waitable::create(context_, "w", std::move(function)));
    Waitable& result = *made;
    schedule(std::move(made));
    return result;
  }

  template <typename Entity>
  void schedule(std::unique_ptr<Entity> entity) {
    executables_.push_back(
        {.executable = entity.get(), .callback = LocalIndex(executables_.size())});
    entities_.push_back(std::move(entity));
  }

  void make(std::unique_ptr<scheduling::Policy> policy, EventsExecutor::Options options = {}) {
    executor_ = must(EventsExecutor::create(executables_, std::move(policy), executables_.size(),
                                            std::move(options)));
  }

  std::vector<std::unique_ptr<Executable>> entities_;
  std::vector<ScheduledExecutable> executables_;
  std::unique_ptr<EventsExecutor> executor_;
  std::vector<int> order_;
};

TEST_F(EventsExecutorTest, RunsInTheOrderOfArrivalByDefault) {
  for (int i = 0; i < 3; ++i) waitable([this, i] { order_.push_back(i); });
  Waitable& last = waitable([this] { executor_->cancel(); });
  make(std::make_unique<scheduling::FifoPolicy>(4, capacity));
  for (const std::size_t i : {2U, 0U, 1U, 2U}) {
    dynamic_cast<Waitable&>(*executables_[i].executable).trigger();
  }
  last.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(2, 0, 1, 2));
}

TEST_F(EventsExecutorTest, DecidesAnewAfterEveryCallback) {
  // The most urgent callback is released by the one that runs, and comes before what waits.
  Waitable& low = waitable([this] {
    order_.push_back(0);
    executor_->cancel();
  });
  Waitable& middle = waitable([this] {
    order_.push_back(1);
    dynamic_cast<Waitable&>(*executables_[2].executable).trigger();
  });
  waitable([this] { order_.push_back(2); });
  const std::vector<std::int64_t> priorities = {1, 2, 3};
  make(std::make_unique<scheduling::FixedPriorityPolicy>(priorities, capacity));
  low.trigger();
  middle.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(1, 2, 0));
}

TEST_F(EventsExecutorTest, OrdersByDeadlines) {
  Waitable& late = waitable([this] {
    order_.push_back(0);
    executor_->cancel();
  });
  Waitable& early = waitable([this] { order_.push_back(1); });
  const std::vector<Duration> deadlines = {std::chrono::hours(2), std::chrono::hours(1)};
  make(std::make_unique<scheduling::EdfPolicy>(deadlines, capacity));
  late.trigger();
  early.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(1, 0));
}

TEST_F(EventsExecutorTest, BindsEachMessageToTheInstanceThatItReleases) {
  // What the more urgent root sends later runs first; each instance must get its own message
  // although the middleware's queue is first in, first out.
  auto publisher = must(Publisher<Packet>::create(node_, unique("x"), 10));
  const auto send = [&](std::uint64_t first) {
    for (const std::uint64_t sequence : {first, first + 1}) {
      Packet packet;
      packet.sequence = sequence;
      must(publisher.publish(packet));
    }
  };
  Waitable& urgent = waitable([&] { send(3); });
  Waitable& root = waitable([&] {
    send(1);
    urgent.trigger();
  });
  schedule(must(
      Subscription<Packet>::create(node_, unique("x"), 10, "child", [this](const Packet& packet) {
        order_.push_back(static_cast<int>(packet.sequence));
        if (order_.size() == 4) executor_->cancel();
      })));
  const std::vector<std::optional<std::int64_t>> roots = {2, 1, std::nullopt};
  make(std::unique_ptr<scheduling::Policy>(new scheduling::GraphAwarePolicy(
      scheduling::GraphAwarePolicy::fixed_priority(roots, capacity))));
  wait_until([&] { return must(publisher.subscription_count()) == 1; });
  root.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(3, 4, 1, 2));
}

TEST_F(EventsExecutorTest, KeepsTheNewestMessagesUpToTheDepth) {
  auto publisher = must(Publisher<Packet>::create(node_, unique("x"), 10));
  schedule(must(Subscription<Packet>::create(
      node_, unique("x"), 2, "on_x",
      [this](const Packet& packet) { order_.push_back(static_cast<int>(packet.sequence)); })));
  Waitable& last = waitable([this] { executor_->cancel(); });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  wait_until([&] { return must(publisher.subscription_count()) == 1; });
  for (const std::uint64_t sequence : {1U, 2U, 3U, 4U}) {
    Packet packet;
    packet.sequence = sequence;
    must(publisher.publish(packet));
  }
  last.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(3, 4));
}

TEST_F(EventsExecutorTest, TellsWhoseBehalfAnInstanceRunsOn) {
  Instant in_root;
  Instant in_child;
  Waitable& root = waitable([&] {
    in_root = current_origin().value();
    dynamic_cast<Waitable&>(*executables_[1].executable).trigger();
  });
  waitable([&] {
    in_child = current_origin().value();
    executor_->cancel();
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  const Instant before = linux_os::monotonic_now();
  root.trigger();
  must(executor_->spin());
  EXPECT_GE(in_root, before);
  EXPECT_EQ(in_child, in_root);
  EXPECT_FALSE(current_origin());
}

TEST_F(EventsExecutorTest, ServesRequestsAndResponses) {
  schedule(must(
      Service<Exchange>::create(node_, unique("s"), "serve",
                                [](const Exchange::Request& request, Exchange::Response& response) {
                                  response.packet.sequence = request.packet.sequence + 1;
                                })));
  auto made = must(Client<Exchange>::create(
      node_, unique("s"), "answered", [this](const Exchange::Response& response) {
        order_.push_back(static_cast<int>(response.packet.sequence));
        if (order_.size() == 2) executor_->cancel();
      }));
  Client<Exchange>& client = *made;
  schedule(std::move(made));
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  wait_until([&] { return must(client.has_server()); });
  for (const std::uint64_t sequence : {10U, 20U}) {
    Exchange::Request request;
    request.packet.sequence = sequence;
    must(client.send(request));
  }
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(11, 21));
}

TEST_F(EventsExecutorTest, ATimerKeepsItsRateBesideALongCallback) {
  constexpr Duration period = milliseconds(20);
  std::vector<Instant> expiries;
  auto made = must(
      Timer::create(node_, period, "tick", [&] { expiries.push_back(current_origin().value()); }));
  Timer& timer = *made;
  schedule(std::move(made));
  Instant long_began;
  Instant long_ended;
  Waitable& busy = waitable([&] {
    long_began = linux_os::monotonic_now();
    std::this_thread::sleep_for(10 * period);
    long_ended = linux_os::monotonic_now();
    must(timer.stop());
    dynamic_cast<Waitable&>(*executables_[2].executable).trigger();
  });
  waitable([this] { executor_->cancel(); });
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity));
  must(timer.start());
  busy.trigger();
  must(executor_->spin());
  // A wait-set executor would have run one of them. All but those that the machine was late for:
  EXPECT_GE(
      std::ranges::count_if(
          expiries, [&](Instant expiry) { return long_began <= expiry && expiry <= long_ended; }),
      3);
  EXPECT_TRUE(std::ranges::is_sorted(expiries));
}

TEST_F(EventsExecutorTest, AHundredExpiriesOfATimerWaitAtMost) {
  auto timer = must(Timer::create(node_, milliseconds(1), "t", [] {}));
  Timer& fast = *timer;
  schedule(std::move(timer));
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  must(fast.start());
  // Nobody spins the executor meanwhile.
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(must(executor_->catch_up()), TimerExecutable::most_waiting);
  must(fast.stop());
  while (must(executor_->spin_once(Duration{0}))) {
  }
  EXPECT_EQ(must(executor_->catch_up()), 0U);
  // It goes on from there.
  must(fast.start());
  EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
}

TEST_F(EventsExecutorTest, ATimerThatIsAlwaysDueLeavesTimeForOthers) {
  auto timer = must(Timer::create(node_, Duration(1), "t", [] {}));
  Timer& fast = *timer;
  schedule(std::move(timer));
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  must(fast.start());
  EXPECT_LE(must(executor_->catch_up()), TimerExecutable::most_waiting);
  must(fast.stop());
}

TEST_F(EventsExecutorTest, WhatComesWhileNobodySpinsTakesNoMemory) {
  constexpr std::size_t triggers = 1'000'000;
  Waitable& triggered = waitable([] {});
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  const auto allocated = [] {
    const struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
  };
  const std::size_t before = allocated();
  for (std::size_t i = 0; i < triggers; ++i) triggered.trigger();
  EXPECT_LT(allocated(), before + 8'000'000);
  // None is lost.
  EXPECT_EQ(must(executor_->catch_up()), triggers);
}

TEST_F(EventsExecutorTest, LosesAndDoublesNothing) {
  constexpr int triggers = 250'000;
  constexpr int threads = 4;
  constexpr std::size_t callbacks = 8;
  std::vector<std::atomic<int>> runs(callbacks);
  std::vector<std::atomic<bool>> running(callbacks);
  std::atomic<int> total = 0;
  for (std::size_t i = 0; i < callbacks; ++i) {
    waitable([&, i] {
      EXPECT_FALSE(running[i].exchange(true)) << "twice at once";
      ++runs[i];
      running[i] = false;
      if (++total == triggers * threads) executor_->cancel();
    });
  }
  make(std::make_unique<scheduling::FifoPolicy>(callbacks, capacity), {.threads = 2});
  {
    std::vector<std::jthread> triggering;
    for (int t = 0; t < threads; ++t) {
      triggering.emplace_back([&] {
        for (std::size_t i = 0; i < triggers; ++i) {
          dynamic_cast<Waitable&>(*executables_[i % callbacks].executable).trigger();
        }
      });
    }
    must(executor_->spin());
  }
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count, triggers * threads / callbacks);
}

TEST_F(EventsExecutorTest, CallbacksOfAnExclusiveGroupNeverOverlap) {
  constexpr int triggers = 20'000;
  std::atomic<bool> inside = false;
  std::atomic<int> total = 0;
  for (int i = 0; i < 3; ++i) {
    waitable([&] {
      EXPECT_FALSE(inside.exchange(true));
      inside = false;
      if (++total == 3 * triggers) executor_->cancel();
    });
  }
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity),
       {.threads = 3, .groups = {.exclusive = {{LocalIndex(0), LocalIndex(1), LocalIndex(2)}}}});
  const std::jthread triggering([&] {
    for (int i = 0; i < triggers; ++i) {
      for (const ScheduledExecutable& scheduled : executables_) {
        dynamic_cast<Waitable&>(*scheduled.executable).trigger();
      }
    }
  });
  must(executor_->spin());
  EXPECT_EQ(total, 3 * triggers);
}

Duration process_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST_F(EventsExecutorTest, ThreadsSleepWhileABusyGroupHoldsWhatWaits) {
  constexpr Duration busy = milliseconds(400);
  Duration taken{};
  std::vector<std::string> order;
  waitable([&] {
    const Duration before = process_time();
    std::this_thread::sleep_for(busy);
    taken = process_time() - before;
    order.emplace_back("first");
  });
  waitable([&] {
    order.emplace_back("second");
    executor_->cancel();
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity),
       {.threads = 2, .groups = {.exclusive = {{LocalIndex(0), LocalIndex(1)}}}});
  for (const ScheduledExecutable& scheduled : executables_) {
    dynamic_cast<Waitable&>(*scheduled.executable).trigger();
  }
  must(executor_->spin());
  EXPECT_THAT(order, ElementsAre("first", "second"));
  // Spinning, the other thread would have taken about all of it; the middleware's threads take
  // some.
  EXPECT_LT(taken, busy / 4);
}

TEST_F(EventsExecutorTest, AThreadIsNeverIdleWhileSomethingMayRun) {
  // Each callback waits for the other: they must run at the same time.
  std::atomic<int> inside = 0;
  for (int i = 0; i < 2; ++i) {
    waitable([&] {
      ++inside;
      wait_until([&] { return inside >= 2; });
      executor_->cancel();
    });
  }
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity), {.threads = 2});
  for (const ScheduledExecutable& scheduled : executables_) {
    dynamic_cast<Waitable&>(*scheduled.executable).trigger();
  }
  must(executor_->spin());
  EXPECT_EQ(inside, 2);
}

TEST_F(EventsExecutorTest, CancelledBeforehandRunsNothing) {
  waitable([] { FAIL(); }).trigger();
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  executor_->cancel();
  must(executor_->spin());
}

TEST_F(EventsExecutorTest, RefusesThreadsThatCannotShareThePolicy) {
  const std::vector<std::optional<std::int64_t>> roots;
  const auto refused =
      EventsExecutor::create({},
                             std::unique_ptr<scheduling::Policy>(new scheduling::GraphAwarePolicy(
                                 scheduling::GraphAwarePolicy::fixed_priority(roots, capacity))),
                             0, {.threads = 2});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "this policy decides for one thread; 2 threads cannot share it");
}

TEST_F(EventsExecutorTest, SpinOnceRunsOneCallbackAndWaitsNoLongerThanItMay) {
  for (int i = 0; i < 2; ++i) waitable([this, i] { order_.push_back(i); });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  EXPECT_FALSE(must(executor_->spin_once(Duration{0})));
  EXPECT_FALSE(must(executor_->spin_once(milliseconds(1))));
  for (const std::size_t i : {1U, 0U}) {
    dynamic_cast<Waitable&>(*executables_[i].executable).trigger();
  }
  EXPECT_TRUE(must(executor_->spin_once(Duration{0})));
  EXPECT_THAT(order_, ElementsAre(1));
  EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
  EXPECT_THAT(order_, ElementsAre(1, 0));
  EXPECT_FALSE(must(executor_->spin_once(Duration{0})));
}

TEST_F(EventsExecutorTest, SpinOnceWakesForWhatComes) {
  Waitable& late = waitable([this] { order_.push_back(0); });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  const std::jthread triggering([&] { late.trigger(); });
  EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
  EXPECT_THAT(order_, ElementsAre(0));
}

TEST_F(EventsExecutorTest, TheLongestTimeoutIsAsLongAsNone) {
  Waitable& late = waitable([this] { order_.push_back(0); });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  const std::jthread triggering([&] {
    std::this_thread::sleep_for(milliseconds(50));
    late.trigger();
  });
  EXPECT_TRUE(must(executor_->spin_once(Duration::max())));
  EXPECT_THAT(order_, ElementsAre(0));
}

TEST_F(EventsExecutorTest, ThreadsThatCannotStartEndTheSpinning) {
  waitable([] {});
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity), {.threads = 3});
  pthread_attr_t before;
  pthread_attr_t too_large;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  ASSERT_EQ(pthread_attr_init(&too_large), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&too_large, std::size_t{1} << 50U), 0);
  ASSERT_EQ(pthread_setattr_default_np(&too_large), 0);
  const Result<void> spun = executor_->spin();
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_FALSE(spun.has_value());
  EXPECT_THAT(spun.error().message, testing::StartsWith("cannot start 3 threads: "));
  // All that is left of it is the error.
  executor_->cancel();
  must(executor_->spin());
}

TEST_F(EventsExecutorTest, TheNumberOfThreadsIsALimit) {
  Waitable& outer = waitable([this] {
    const auto nested = executor_->spin_once(Duration{0});
    ASSERT_FALSE(nested.has_value());
    EXPECT_EQ(nested.error().message, "more threads spin the executor than it has: 1");
    order_.push_back(0);
  });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  outer.trigger();
  EXPECT_TRUE(must(executor_->spin_once(Duration{0})));
  EXPECT_THAT(order_, ElementsAre(0));
}

TEST_F(EventsExecutorTest, SpinsAgainAfterCancelAndAfterAnException) {
  Waitable& throwing = waitable([] { throw std::runtime_error("the callback's own"); });
  Waitable& after = waitable([this] {
    order_.push_back(1);
    executor_->cancel();
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  throwing.trigger();
  after.trigger();
  EXPECT_THROW((void)executor_->spin(), std::runtime_error);
  must(executor_->spin());
  after.trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(1, 1));
}

TEST_F(EventsExecutorTest, TheDefaultExecutorsOrderOnSeveralThreadsToo) {
  // At the polling point all wait; the ready set is served in the order of registration, and holds
  // one instance of each.
  for (int i = 0; i < 3; ++i) waitable([this, i] { order_.push_back(i); });
  waitable([this] { executor_->cancel(); });
  const std::vector<scheduling::WaitSetPolicy::Entry> waitables(
      4, {.category = scheduling::Category::waitable});
  make(std::make_unique<scheduling::WaitSetPolicy>(waitables, TimerHandling::polled),
       {.threads = 2,
        .groups = {.exclusive = {{LocalIndex(0), LocalIndex(1), LocalIndex(2), LocalIndex(3)}}}});
  for (const std::size_t i : {2U, 0U, 0U, 1U, 2U, 0U}) {
    dynamic_cast<Waitable&>(*executables_[i].executable).trigger();
  }
  must(executor_->spin_once(Duration{0}));
  EXPECT_THAT(order_, ElementsAre(0));
  dynamic_cast<Waitable&>(*executables_[3].executable).trigger();
  must(executor_->spin());
  EXPECT_THAT(order_, ElementsAre(0, 1, 2, 0, 2));
}

TEST_F(EventsExecutorTest, NoMemberOfABusyGroupStarves) {
  // The first callback is always ready again when it ends; the others of its group must still get
  // their turn, with as many threads as there are members.
  std::atomic<int> others = 0;
  Waitable& greedy =
      waitable([this] { dynamic_cast<Waitable&>(*executables_[0].executable).trigger(); });
  for (int i = 0; i < 2; ++i) {
    waitable([&] {
      if (++others == 2) executor_->cancel();
    });
  }
  const std::vector<scheduling::WaitSetPolicy::Entry> waitables(
      3, {.category = scheduling::Category::waitable});
  const CallbackGroups group = {.exclusive = {{LocalIndex(0), LocalIndex(1), LocalIndex(2)}}};
  make(std::make_unique<scheduling::WaitSetPolicy>(waitables, TimerHandling::polled),
       {.threads = 3, .groups = group});
  greedy.trigger();
  dynamic_cast<Waitable&>(*executables_[1].executable).trigger();
  dynamic_cast<Waitable&>(*executables_[2].executable).trigger();
  must(executor_->spin());
  EXPECT_EQ(others, 2);
}

TEST_F(EventsExecutorTest, AReentrantCallbackRunsBesideItself) {
  std::atomic<int> inside = 0;
  Waitable& reentrant = waitable([&] {
    ++inside;
    wait_until([&] { return inside >= 2; });
    executor_->cancel();
  });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity),
       {.threads = 2, .groups = {.reentrant = {LocalIndex(0)}}});
  reentrant.trigger();
  reentrant.trigger();
  must(executor_->spin());
  EXPECT_EQ(inside, 2);
}

TEST_F(EventsExecutorTest, TimersAndMessagesDoNotStarveEachOther) {
  // Both come without end; by the order of arrival, neither is left behind.
  int ticks = 0;
  int messages = 0;
  const auto end = [&] {
    if (ticks >= 20 && messages >= 20) executor_->cancel();
  };
  auto made = must(Timer::create(node_, std::chrono::microseconds(200), "tick", [&] {
    ++ticks;
    end();
  }));
  Timer& timer = *made;
  schedule(std::move(made));
  Waitable& chatter = waitable([&] {
    ++messages;
    dynamic_cast<Waitable&>(*executables_[1].executable).trigger();
    end();
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity));
  must(timer.start());
  chatter.trigger();
  must(executor_->spin());
  EXPECT_GE(ticks, 20);
  EXPECT_GE(messages, 20);
}

TEST_F(EventsExecutorTest, MissedPeriodsAreSkippedWhereTheDefaultExecutorSkipsThem) {
  constexpr Duration period = milliseconds(2);
  std::vector<Instant> expiries;
  auto made = must(
      Timer::create(node_, period, "tick", [&] { expiries.push_back(current_origin().value()); }));
  Timer& timer = *made;
  schedule(std::move(made));
  Instant long_ended;
  Waitable& busy = waitable([&] {
    std::this_thread::sleep_for(10 * period);
    must(timer.stop());
    long_ended = linux_os::monotonic_now();
    dynamic_cast<Waitable&>(*executables_[2].executable).trigger();
  });
  waitable([this] { executor_->cancel(); });
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity), {.missed = MissedExpiries::skip});
  busy.trigger();
  must(timer.start());
  must(executor_->spin());
  EXPECT_LE(expiries.size(), 1U);
}

TEST_F(EventsExecutorTest, ATableOpensSlotsForWhatWasReleasedBefore) {
  std::vector<Instant> starts;
  for (int i = 0; i < 2; ++i) {
    waitable([&, i] {
      order_.push_back(i);
      starts.push_back(linux_os::monotonic_now());
      if (i == 0) executor_->cancel();
    });
  }
  constexpr Duration cycle = milliseconds(40);
  const std::vector<scheduling::TableDrivenPolicy::Slot> slots = {
      {Duration{0}, cycle / 2, LocalIndex(1)}, {cycle / 2, cycle, LocalIndex(0)}};
  make(std::make_unique<scheduling::TableDrivenPolicy>(2, slots, cycle));
  // Wait for the second half of a round: callback 0 could run at once, 1 only in the next round.
  const auto offset = [&] { return linux_os::monotonic_now().time_since_epoch() % cycle; };
  wait_until([&] { return offset() < cycle / 4; });
  const Instant before = linux_os::monotonic_now();
  dynamic_cast<Waitable&>(*executables_[0].executable).trigger();
  dynamic_cast<Waitable&>(*executables_[1].executable).trigger();
  must(executor_->spin());
  // However late it starts then: not before the first instant of its slot after the trigger.
  const Duration into = before.time_since_epoch() % cycle;
  EXPECT_GE(starts.back(), into < cycle / 2 ? before - into + cycle / 2 : before);
}

TEST_F(EventsExecutorTest, EntitiesComeAndGoWhileItSpins) {
  // One callback adds and removes others again and again, while two threads run them.
  constexpr int rounds = 300;
  std::vector<std::atomic<int>> runs(4);
  std::vector<std::unique_ptr<Waitable>> extra;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    extra.push_back(must(Waitable::create(context_, "w", [&, i] { ++runs[i]; })));
  }
  const auto scheduled = [&](std::size_t first, std::size_t count) {
    std::vector<ScheduledExecutable> result = executables_;
    for (std::size_t i = 0; i < count; ++i) {
      result.push_back({.executable = extra[first + i].get(), .callback = LocalIndex(1 + i)});
    }
    return result;
  };
  int round = 0;
  int triggered = 0;
  Waitable& changing = waitable([&] {
    const std::size_t first = static_cast<std::size_t>(round) % 3;
    must(
        executor_->replace(scheduled(first, 2), std::make_unique<scheduling::FifoPolicy>(3, 8), 3));
    // What is removed before it has run runs when it is back.
    extra[first]->trigger();
    extra[first + 1]->trigger();
    triggered += 2;
    if (++round == rounds) return executor_->cancel();
    dynamic_cast<Waitable&>(*executables_[0].executable).trigger();
  });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity), {.threads = 2});
  changing.trigger();
  must(executor_->spin());
  EXPECT_EQ(round, rounds);
  must(executor_->replace(scheduled(0, 4), std::make_unique<scheduling::FifoPolicy>(5, 8), 5));
  while (must(executor_->spin_once(Duration{0}))) {
  }
  EXPECT_EQ(runs[0] + runs[1] + runs[2] + runs[3], triggered);
  executor_.reset();
}

TEST_F(EventsExecutorTest, ANestedCallbackRemovesTheOnesAroundIt) {
  // Waiting for their ends it would wait for itself.
  Waitable& outer = waitable([this] {
    order_.push_back(0);
    EXPECT_TRUE(must(executor_->spin_once(Duration{0})));
    order_.push_back(2);
  });
  Waitable& inner = waitable([this] {
    order_.push_back(1);
    EXPECT_TRUE(executor_->is_running_here());
    must(executor_->replace({}, std::make_unique<scheduling::FifoPolicy>(0, 0), 0));
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity), {.nests = true});
  outer.trigger();
  inner.trigger();
  EXPECT_TRUE(must(executor_->spin_once(Duration{0})));
  EXPECT_THAT(order_, ElementsAre(0, 1, 2));
}

TEST_F(EventsExecutorTest, AnInterruptionEndsWaitingThatBeganBeforeIt) {
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity), {.threads = 3});
  const std::uint64_t since = executor_->interruptions();
  std::atomic<int> ended = 0;
  {
    std::vector<std::jthread> waiting;
    for (int i = 0; i < 2; ++i) {
      waiting.emplace_back([&] {
        EXPECT_FALSE(must(executor_->spin_once(std::nullopt, since)));
        ++ended;
      });
    }
    executor_->interrupt();  // before or after they wait
  }
  EXPECT_EQ(ended, 2);
  EXPECT_FALSE(must(executor_->spin_once(std::nullopt, since)));
  // Who knows of it waits for what comes, and so does who does not ask.
  const std::uint64_t now = executor_->interruptions();
  EXPECT_GT(now, since);
  EXPECT_FALSE(must(executor_->spin_once(Duration{1'000'000}, now)));
  executor_->interrupt();
  EXPECT_FALSE(must(executor_->spin_once(Duration{1'000'000})));
}

TEST_F(EventsExecutorTest, ACallbackRemovesOneOnAnotherThreadThatWaitsForIt) {
  std::binary_semaphore begun{0};
  std::binary_semaphore removed{0};
  Waitable& waiting = waitable([&] {
    begun.release();
    removed.acquire();
    order_.push_back(2);
  });
  Waitable& removing = waitable([&] {
    begun.acquire();
    const std::span<const ScheduledExecutable> all = executables_;
    must(executor_->replace(all.subspan(1), std::make_unique<scheduling::FifoPolicy>(2, capacity),
                            2));
    EXPECT_TRUE(executor_->removed_run());
    order_.push_back(1);
    removed.release();
  });
  make(std::make_unique<scheduling::FifoPolicy>(2, capacity), {.threads = 2, .nests = true});
  waiting.trigger();
  removing.trigger();
  {
    const std::jthread other([this] { EXPECT_TRUE(must(executor_->spin_once(std::nullopt))); });
    EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
  }
  EXPECT_THAT(order_, ElementsAre(1, 2));
  EXPECT_FALSE(executor_->removed_run());
}

TEST_F(EventsExecutorTest, AnotherThreadReplacesWhatItsOnlyThreadRuns) {
  constexpr int rounds = 20'000;
  int left = rounds;
  Waitable& busy = waitable([&] {
    if (--left == 0) return executor_->cancel();
    dynamic_cast<Waitable&>(*executables_[0].executable).trigger();
  });
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  std::atomic<bool> ended = false;
  std::jthread replacing([&] {
    while (!ended) {
      must(executor_->replace(executables_, std::make_unique<scheduling::FifoPolicy>(1, capacity),
                              1));
    }
  });
  busy.trigger();
  must(executor_->spin());
  ended = true;
  EXPECT_EQ(left, 0);
}

/// Its queueing is another one.
class Queued final : public scheduling::Policy {
 public:
  explicit Queued(scheduling::Queueing queueing) : queueing_(queueing) {}

  using Policy::release;
  [[nodiscard]] scheduling::Queueing queueing(LocalIndex /*callback*/) const override {
    return queueing_;
  }
  void release(LocalIndex callback, Instant activation, Instant origin) override {
    policy_.release(callback, activation, origin);
  }

 private:
  bool choose(LocalIndex& chosen) override {
    const auto next = policy_.next();
    if (next) chosen = *next;
    return next.has_value();
  }

  scheduling::Queueing queueing_;
  scheduling::FifoPolicy policy_{1, 8};
};

/// Messages, which are numbers, stay where instances run oldest first.
class Numbers final : public MessageExecutable {
 public:
  explicit Numbers(std::vector<int>& ran) : ran_(ran) {}

  void send(int number) {
    middleware_.push_back(number);
    arrived_(1);
  }

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::subscription;
  }
  [[nodiscard]] Result<void> notify(Arrived arrived) override {
    arrived_ = std::move(arrived);
    return {};
  }
  [[nodiscard]] std::size_t room(scheduling::Queueing queueing) const override {
    return queueing == scheduling::Queueing::oldest_first ? 4 : 0;
  }
  [[nodiscard]] Result<Admitted> admit(scheduling::Queueing /*queueing*/) override {
    kept_.push_back(middleware_.front());
    middleware_.pop_front();
    return Admitted{.activates = true};
  }
  void choose(scheduling::Queueing queueing, std::size_t /*newer*/,
              std::size_t /*worker*/) override {
    if (queueing == scheduling::Queueing::newest_first) {
      chosen_ = kept_.back();
      kept_.pop_back();
    } else {
      chosen_ = kept_.front();
      kept_.pop_front();
    }
  }
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) override {
    if (!chosen_) {
      chosen_ = middleware_.front();
      middleware_.pop_front();
    }
    ran_.push_back(*std::exchange(chosen_, std::nullopt));
    return {};
  }

 private:
  std::vector<int>& ran_;
  Arrived arrived_;
  std::deque<int> middleware_;
  std::deque<int> kept_;
  std::optional<int> chosen_;
};

TEST_F(EventsExecutorTest, MessagesStayOrAreBoundAsThePresentPolicyWants) {
  using scheduling::Queueing;
  Numbers numbers(order_);
  const ScheduledExecutable scheduled{.executable = &numbers, .callback = LocalIndex(0)};
  const auto replace = [&](Queueing queueing) {
    must(executor_->replace({&scheduled, 1}, std::make_unique<Queued>(queueing), 1));
  };
  const auto run_all = [&] {
    order_.clear();
    while (must(executor_->spin_once(Duration{0}))) {
    }
  };
  make(std::make_unique<scheduling::FifoPolicy>(0, capacity));
  replace(Queueing::oldest_first);
  for (const int number : {1, 2}) numbers.send(number);
  replace(Queueing::newest_first);
  numbers.send(3);
  run_all();
  EXPECT_THAT(order_, ElementsAre(3, 2, 1));
  for (const int number : {4, 5}) numbers.send(number);
  replace(Queueing::oldest_first);
  for (const int number : {6, 7}) numbers.send(number);
  run_all();
  EXPECT_THAT(order_, ElementsAre(4, 5, 6, 7));
  // One more than there is room for.
  for (const int number : {8, 9, 10, 11, 12}) numbers.send(number);
  run_all();
  EXPECT_THAT(order_, ElementsAre(8, 9, 10, 11));
  executor_.reset();
}

TEST_F(EventsExecutorTest, AnEntityTellsTheExecutorThatAskedLast) {
  auto publisher = must(Publisher<Packet>::create(node_, unique("x"), 10));
  auto received = must(Subscription<Packet>::create(
      node_, unique("x"), 10, "received", [this](const Packet&) { order_.push_back(0); }));
  Subscription<Packet>& subscription = *received;
  schedule(std::move(received));
  auto expired = must(Timer::create(node_, milliseconds(5), "expired", [this] {
    order_.push_back(1);
    dynamic_cast<Waitable&>(*executables_[2].executable).trigger();
  }));
  Timer& timer = *expired;
  schedule(std::move(expired));
  waitable([this] { order_.push_back(2); });
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity));
  std::unique_ptr<EventsExecutor> older = std::move(executor_);
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity));
  // Whether it lets go of them or ends: nothing of it is in the newer one's way.
  must(older->replace({&executables_[1], 1}, std::make_unique<scheduling::FifoPolicy>(3, 8), 3));
  older.reset();
  wait_until([&] { return must(subscription.publisher_count()) == 1; });
  must(publisher.publish(Packet()));
  EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
  must(timer.start());
  EXPECT_TRUE(must(executor_->spin_once(std::nullopt)));
  must(timer.stop());
  while (must(executor_->spin_once(Duration{0}))) {
  }
  // However often the timer expired before it was stopped.
  order_.erase(std::unique(order_.begin(), order_.end()), order_.end());
  ASSERT_GE(order_.size(), 3U);
  EXPECT_THAT(std::vector(order_.begin(), order_.begin() + 3), ElementsAre(0, 1, 2));
}

TEST_F(EventsExecutorTest, InstancesOfWhatStaysWaitOn) {
  for (int i = 0; i < 3; ++i) waitable([this, i] { order_.push_back(i); });
  make(std::make_unique<scheduling::FifoPolicy>(3, capacity));
  for (const std::size_t i : {2U, 1U, 0U, 2U}) {
    dynamic_cast<Waitable&>(*executables_[i].executable).trigger();
  }
  // Without the middle one, and in another order of callbacks.
  const std::vector<ScheduledExecutable> fewer = {
      {.executable = executables_[2].executable, .callback = LocalIndex(0)},
      {.executable = executables_[0].executable, .callback = LocalIndex(1)}};
  must(executor_->replace(fewer, std::make_unique<scheduling::FifoPolicy>(2, capacity), 2));
  while (must(executor_->spin_once(Duration{0}))) {
  }
  EXPECT_THAT(order_, ElementsAre(2, 0, 2));
}

TEST_F(EventsExecutorTest, ThreadsAreSetUpAsAsked) {
  const std::vector<int> allowed = must(linux_os::affinity(0));
  const std::vector<int> last = {allowed.back()};
  std::vector<std::vector<int>> seen;
  std::mutex mutex;
  waitable([this] { executor_->cancel(); }).trigger();
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity),
       {.threads = 2, .thread = {.processors = last}, .thread_started = [&](std::size_t) {
          const std::scoped_lock lock(mutex);
          seen.push_back(must(linux_os::affinity(0)));
        }});
  std::jthread([this] { must(executor_->spin()); }).join();
  EXPECT_THAT(seen, testing::Each(last));
  EXPECT_EQ(seen.size(), 2U);
}

TEST_F(EventsExecutorTest, RefusedThreadSettingsEndTheSpinning) {
  waitable([] {});
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity),
       {.thread = {.processors = {100'000}}});
  EXPECT_FALSE(executor_->spin().has_value());
}

TEST_F(EventsExecutorTest, ARefusedPriorityOfTheReleaserIsAnError) {
  const auto made =
      EventsExecutor::create({}, std::make_unique<scheduling::FifoPolicy>(0, capacity), 0,
                             {.releaser = linux_os::FifoScheduling{.priority = 100}});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, testing::HasSubstr("the thread that releases timers"));
}

TEST_F(EventsExecutorTest, TimersAreReleasedBeforeThreadsWithAPriority) {
  constexpr linux_os::FifoScheduling scheduling{.priority = 20};
  const linux_os::ThreadScheduling above = linux_os::FifoScheduling{.priority = 21};
  if (const auto may = linux_os::check_scheduling(above); !may) {
    GTEST_SKIP() << may.error().message;
  }
  make(std::make_unique<scheduling::FifoPolicy>(0, capacity),
       {.thread = {.scheduling = scheduling}});
  const auto threads = linux_os::threads_named(getpid(), "");
  EXPECT_TRUE(std::ranges::any_of(threads, [&](const auto& thread) {
    const auto scheduled = linux_os::get_scheduling(thread.thread);
    return scheduled && *scheduled == above;
  }));
}

/// Whose handle is gone, say.
class BrokenTimer final : public TimerExecutable {
 public:
  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const override {
    return error("the timer is broken");
  }
  [[nodiscard]] Result<std::optional<Expiry>> expire() override { return std::nullopt; }
  [[nodiscard]] Result<void> on_change(std::function<void()> /*changed*/) override { return {}; }
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) override { return {}; }
};

TEST_F(EventsExecutorTest, ATimerThatFailsEndsTheSpinning) {
  schedule(std::make_unique<BrokenTimer>());
  make(std::make_unique<scheduling::FifoPolicy>(1, capacity));
  EXPECT_THAT(executor_->spin().error().message, testing::HasSubstr("the timer is broken"));
}

TEST_F(EventsExecutorTest, LetsExceptionsOfCallbacksOut) {
  for (const std::size_t threads : {1U, 2U}) {
    waitable([] { throw std::runtime_error("the callback's own"); }).trigger();
    make(std::make_unique<scheduling::FifoPolicy>(executables_.size(), capacity),
         {.threads = threads});
    EXPECT_THROW((void)executor_->spin(), std::runtime_error);
    executor_.reset();
  }
}

}  // namespace
}  // namespace takt::executor
