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
