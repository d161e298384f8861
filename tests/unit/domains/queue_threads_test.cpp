// The queue over domains with its threads, and between processes that are killed.

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "queue.hpp"
#include "takt/domains/queue_bounds.hpp"

namespace takt::domains {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto patience = std::chrono::seconds(60);

class QueueThreads : public testing::Test {
 protected:
  std::unique_ptr<Publisher> publisher(const Drivers& drivers, const Device& device = host) {
    auto made = Publisher::make({.path = folder_.file("socket"),
                                 .device = device,
                                 .drivers = drivers,
                                 .pool = small_pools});
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }
  std::unique_ptr<Subscription> connect(const Device& device, std::uint32_t depth,
                                        bool wants_all = false) {
    auto made = Subscription::connect({.path = folder_.file("socket"),
                                       .depth = depth,
                                       .device = device,
                                       .wants_all = wants_all,
                                       .drivers = quick_drivers()});
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
  }

  memory::Folder folder_;
};

/// Waits for a condition that others bring about.
template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

bool joins(Publisher& publisher, Subscription& subscription) {
  return comes_true([&] {
    EXPECT_TRUE(publisher.hear().has_value());
    return subscription.hear() && subscription.is_joined();
  });
}

/// Takes until the message `last`. How many it took. Others follow in order.
std::uint64_t take_until(Subscription& subscription, std::uint64_t last) {
  std::uint64_t newest = 0;
  std::uint64_t count = 0;
  while (newest < last) {
    subscription.arm();
    const auto taken = subscription.take();
    if (!taken) ADD_FAILURE() << taken.error().message;
    if (!taken) return count;
    if (!*taken) {
      pollfd waiting{.fd = subscription.socket(), .events = POLLIN, .revents = 0};
      if (poll(&waiting, 1, 60'000) != 1) ADD_FAILURE() << "not woken after message " << newest;
      if (!subscription.hear() || testing::Test::HasFailure()) return count;
      continue;
    }
    const std::uint64_t number = content_of(**taken);
    EXPECT_GT(number, newest);
    newest = number;
    ++count;
    subscription.release(**taken);
  }
  return count;
}

TEST_F(QueueThreads, AFastPublisherTearsNothingAndLosesNothingUncounted) {
  for (const Device& from : {host, emulated(1)}) {
    const auto queue = publisher(quick_drivers(), from);
    std::vector<std::unique_ptr<Subscription>> subscriptions;
    for (const bool wants_all : {false, true}) {
      for (const Device& device : {host, emulated(1), emulated(wants_all ? 2 : 3)}) {
        subscriptions.push_back(connect(device, wants_all ? 3 : 1, wants_all));
        ASSERT_TRUE(joins(*queue, *subscriptions.back()));
      }
    }
    constexpr std::uint64_t last = 3'000;
    std::vector<std::thread> threads;
    std::vector<std::uint64_t> counts(subscriptions.size());
    for (std::size_t index = 0; index < subscriptions.size(); ++index) {
      threads.emplace_back([&, index] { counts[index] = take_until(*subscriptions[index], last); });
    }
    for (std::uint64_t number = 1; number <= last; ++number) {
      ASSERT_TRUE(send(*queue, number, 8 + number % 500 * 8));
    }
    for (std::thread& thread : threads) thread.join();
    for (std::size_t index = 0; index < subscriptions.size(); ++index) {
      EXPECT_EQ(counts[index] + subscriptions[index]->overrun(), last) << index;
    }
    EXPECT_LE(queue->copies(), last * most_copies(4));
    subscriptions.clear();
    EXPECT_TRUE(comes_true([&] {
      EXPECT_TRUE(queue->hear().has_value());
      queue->give_back(*queue->prepare(1));
      return queue->lines().empty() && queue->store().slots_in_use() == 0;
    }));
  }
}

TEST_F(QueueThreads, A13_TwoThatAskAtOnceHaveOneCopyMade) {
  const auto queue = publisher(quick_drivers());
  const auto one = connect(emulated(0), 1);
  const auto two = connect(emulated(0), 1);
  ASSERT_TRUE(joins(*queue, *one) && joins(*queue, *two));
  constexpr std::uint64_t rounds = 200;
  for (std::uint64_t number = 1; number <= rounds; ++number) {
    ASSERT_TRUE(send(*queue, number));
    std::thread other([&] { EXPECT_EQ(take_until(*two, number), 1U); });
    EXPECT_EQ(take_until(*one, number), 1U);
    other.join();
    EXPECT_EQ(queue->copies(), number);
  }
}

/// Lets copies take until it is opened.
class Gate {
 public:
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    is_reached_ = true;
    opened_.wait(lock, [this] { return is_open_; });
  }
  [[nodiscard]] bool is_reached() const { return is_reached_; }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
  std::atomic<bool> is_reached_ = false;
};

TEST_F(QueueThreads, N7_NoCopyStopsAPublisher) {
  Gate gate;
  const auto queue = publisher(emulated_drivers({}, [&](nanoseconds) { gate.wait(); }));
  const auto there = connect(emulated(0), 2, true);
  const auto here = connect(host, 2);
  ASSERT_TRUE(joins(*queue, *there) && joins(*queue, *here));
  ASSERT_TRUE(send(*queue, 1));
  ASSERT_TRUE(comes_true([&] { return gate.is_reached(); }));
  for (std::uint64_t number = 2; number <= 70'000; ++number) ASSERT_TRUE(send(*queue, number, 8));
  EXPECT_LE(queue->store().slots_in_use(), 4U) << "two rings, and what is being copied";
  EXPECT_EQ(queue->copies(), 0U);
  gate.open();
  const std::uint64_t taken = take_until(*there, 70'000);
  EXPECT_GE(taken, 2U);
  EXPECT_EQ(taken + there->overrun(), 70'000U);
}

/// A child process that takes for ever. `device`: where.
pid_t start_reader(const std::string& path, const Device& device, bool wants_all) {
  const pid_t child = fork();
  if (child != 0) return child;
  for (int tries = 0; tries < 60'000; ++tries) {
    auto made = Subscription::connect({.path = path,
                                       .depth = 3,
                                       .device = device,
                                       .wants_all = wants_all,
                                       .drivers = quick_drivers()});
    if (made) {
      take_until(**made, ~std::uint64_t{0});
      _exit(0);
    }
    usleep(1'000);
  }
  _exit(1);
}

TEST_F(QueueThreads, AKilledSubscriptionGivesAllBack) {
  for (int round = 0; round < 10; ++round) {
    const std::string path = folder_.file("socket");
    const pid_t asks = start_reader(path, emulated(0), false);
    const pid_t wants_all = start_reader(path, emulated(1), true);
    {
      const auto queue = publisher(quick_drivers());
      ASSERT_TRUE(comes_true([&] { return queue->hear() && queue->lines().size() == 2; }));
      std::uint64_t number = 0;
      while (queue->copies() < 50U + static_cast<std::uint64_t>(round) * 7) {
        ASSERT_TRUE(send(*queue, ++number, 4'000));
        if (number % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        ASSERT_LT(number, 10'000'000U) << "nobody takes";
      }
      kill(asks, SIGKILL);
      kill(wants_all, SIGKILL);
      EXPECT_TRUE(comes_true([&] {
        EXPECT_TRUE(queue->hear().has_value());
        queue->give_back(*queue->prepare(1));
        return queue->lines().empty() && queue->store().slots_in_use() == 0;
      }));
    }
    int status = 0;
    ASSERT_EQ(waitpid(asks, &status, 0), asks);
    EXPECT_TRUE(WIFSIGNALED(status));
    ASSERT_EQ(waitpid(wants_all, &status, 0), wants_all);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
}

TEST_F(QueueThreads, AKilledPublisherLeavesWholeMessages) {
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto queue = publisher(quick_drivers());
      for (std::uint64_t number = 1;; ++number) {
        if (!queue->hear() || !send(*queue, number, 4'000)) _exit(1);
        if (number % 16 == 0) usleep(100);
      }
    }
    std::unique_ptr<Subscription> asks;
    ASSERT_TRUE(comes_true([&] {
      auto made = Subscription::connect({.path = folder_.file("socket"),
                                         .depth = 3,
                                         .device = emulated(0),
                                         .drivers = quick_drivers()});
      if (made) asks = std::move(*made);
      return made.has_value();
    }));
    const auto all = connect(emulated(0), 3, round % 2 == 0);
    ASSERT_TRUE(comes_true([&] { return all->hear() && all->is_joined(); }));
    std::thread killer([child, round] {
      std::this_thread::sleep_for(milliseconds(5 + 3 * round));
      kill(child, SIGKILL);
    });
    take_until(*all, ~std::uint64_t{0});
    killer.join();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
    while (asks->hear()) {
    }
    for (int tries = 0; tries < 10; ++tries) {
      const auto taken = asks->take();
      if (taken && *taken) content_of(**taken);  // says if it is torn
    }
    std::filesystem::remove(folder_.file("socket"));
  }
}

}  // namespace
}  // namespace takt::domains
