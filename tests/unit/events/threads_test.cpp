#include "takt/events/threads.hpp"

#include <gtest/gtest.h>

namespace takt::events {
namespace {

TEST(Threads, OfTheSameNumbersInTwoNamespacesBelongToTwoProcesses) {
  Threads threads;
  const HostIndex host = threads.host("robot", "boot");
  const ThreadIndex left = threads.thread(host, {1, 100}, 1, "left");
  const ThreadIndex right = threads.thread(host, {1, 200}, 1, "right");
  EXPECT_NE(threads[left].process, threads[right].process);
  EXPECT_EQ(threads.thread(host, {1, 100}, 1, "left"), left);
  EXPECT_EQ(threads.thread(host, {1, 200}, 1, "right"), right);
  // Told without a namespace: the first.
  EXPECT_EQ(threads.thread(host, 1, 1, ""), left);
}

TEST(Threads, AProcessKnownByItsNumberIsTheFirstThatTellsItsNamespace) {
  Threads threads;
  const HostIndex host = threads.host("robot", "boot");
  const ProcessIndex known = threads.process(host, 7);
  EXPECT_EQ(threads.process(host, {7, 100}), known);
  EXPECT_NE(threads.process(host, {7, 200}), known);
  EXPECT_EQ(threads.process(host, {7, 100}), known);
  EXPECT_EQ(threads.process(host, 7), known);
  EXPECT_EQ(threads.processes().size(), 2);
}

TEST(Threads, LookAheadOnceWhenTheyAreAsked) {
  Threads threads;
  const HostIndex host = threads.host("robot", "boot");
  const ProcessIndex left = threads.process(host, {1, 100});
  const ProcessIndex right = threads.process(host, {1, 200});
  const ProcessIndex other = threads.process(host, 2);
  const auto at = [](int time) { return Instant(std::chrono::seconds(time)); };
  EXPECT_TRUE(threads.goes_on_after(left, at(9)));  // nobody knows
  int looked = 0;
  threads.look_ahead([&] {
    ++looked;
    Threads::LastEvents last;
    last.note({host, 1, 100}, at(5));
    last.note({host, 1, 100}, at(4));
    last.note({host, 1, 200}, at(7));
    last.note({host, 2, 300}, at(3));
    return last;
  });
  EXPECT_EQ(looked, 0);
  EXPECT_TRUE(threads.goes_on_after(left, at(4)));
  EXPECT_FALSE(threads.goes_on_after(left, at(5)));
  EXPECT_TRUE(threads.goes_on_after(right, at(6)));
  EXPECT_FALSE(threads.goes_on_after(right, at(7)));
  EXPECT_TRUE(threads.goes_on_after(other, at(2)));  // its namespace has not been seen yet
  EXPECT_FALSE(threads.goes_on_after(threads.process(host, 3), at(0)));
  EXPECT_EQ(looked, 1);
}

TEST(Threads, EachNamespaceOfANumberIsAnotherProcess) {
  Threads threads;
  const HostIndex host = threads.host("robot", "boot");
  constexpr std::uint64_t count = 300;
  for (std::uint64_t i = 1; i <= count; ++i) {
    EXPECT_EQ(threads.process(host, {1, i}), ProcessIndex(i - 1));
  }
  EXPECT_EQ(threads.process(host, 1), ProcessIndex(0));
  EXPECT_EQ(threads.processes().size(), count);
}

}  // namespace
}  // namespace takt::events
