#include "takt/linux/owned_mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace takt::linux_os {
namespace {

/// Threads count with a mutex, of which one is the owner from time to time.
TEST(OwnedMutex, LetsOneThreadInAtATime) {
  constexpr int others = 3;
  constexpr int rounds = 200;
  constexpr long of_the_owner = 1000;
  constexpr long of_others = 2000;
  OwnedMutex mutex;
  long count = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < others; ++i) {
      threads.emplace_back([&] {
        for (long n = 0; n < of_others; ++n) {
          const std::scoped_lock lock(mutex);
          ++count;
        }
      });
    }
    for (int round = 0; round < rounds; ++round) {
      const OwnedMutex::Ownership ownership(round % 2 == 0 ? &mutex : nullptr);
      for (long n = 0; n < of_the_owner; ++n) {
        const std::scoped_lock lock(mutex);
        ++count;
      }
    }
  }
  EXPECT_EQ(count, rounds * of_the_owner + others * of_others);
}

/// Each turn is the other thread's: neither gets the mutex by chance.
TEST(OwnedMutex, OwnerAndOthersWaitForEachOther) {
  constexpr int turns = 2000;
  OwnedMutex mutex;
  std::condition_variable_any changed;
  int turn = 0;
  const auto play = [&](int first) {
    for (int mine = first; mine < turns; mine += 2) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return turn == mine; });
      ++turn;
      changed.notify_one();
    }
  };
  std::jthread other([&] { play(1); });
  const OwnedMutex::Ownership ownership(&mutex);
  play(0);
  other.join();
  EXPECT_EQ(turn, turns);
}

TEST(OwnedMutex, AnotherThreadWaitsUntilTheOwnerGivesItBack) {
  OwnedMutex mutex;
  const OwnedMutex::Ownership ownership(&mutex);
  std::atomic<bool> is_given_back = false;
  std::unique_lock lock(mutex);
  std::jthread other([&] {
    const std::scoped_lock waits(mutex);
    EXPECT_TRUE(is_given_back);
  });
  // Time for the other one to get it too early.
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  is_given_back = true;
  lock.unlock();
}

}  // namespace
}  // namespace takt::linux_os
