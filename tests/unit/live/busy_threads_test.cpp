#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "takt/live/window.hpp"

namespace takt::live {
namespace {

using namespace std::chrono_literals;

class BusyThreadsTest : public testing::Test {
 protected:
  void run(Instant start, Instant end, std::optional<Duration> cpu_time = {}) {
    execution::CallbackInstance instance;
    instance.thread = thread;
    instance.callback = execution::ObservedCallbackIndex(0);
    instance.start = start;
    instance.end = end;
    instance.cpu_time = cpu_time;
    busy.on_instance(database, instance);
  }

  events::ThreadIndex thread{0};
  events::Threads threads;
  execution::Database database{threads};
  BusyThreads busy;
};

TEST_F(BusyThreadsTest, AreBusyForAShareOfTheLastTenSeconds) {
  for (int second = 100; second < 110; ++second) {
    const Instant start = Instant{} + std::chrono::seconds{second};
    run(start + 200ms, start + 500ms);
  }
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 110s), 0.3);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 115s), 0.15);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 120s), 0);
}

TEST_F(BusyThreadsTest, AreNeverBusyForLongerThanTimeHasPassed) {
  run(Instant{} + 100s, Instant{} + 130s);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 130s), 1);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 135s), 0.5);
}

TEST_F(BusyThreadsTest, SpreadTheProcessorTimeOverTheSecondsOfAnInstance) {
  run(Instant{} + 100500ms, Instant{} + 104500ms, 1s);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 110s), 0.1);
  EXPECT_DOUBLE_EQ(busy.share(thread, Instant{} + 112s), 0.0625) << "2.5 of its 4 seconds";
}

}  // namespace
}  // namespace takt::live
