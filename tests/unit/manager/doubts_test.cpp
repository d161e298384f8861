#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "decision_inputs.hpp"

namespace takt::manager {
namespace {

using Unseen = live::Monitor::Unseen;

/// Two programs with an executor each.
std::vector<model::Executor> executors() {
  std::vector<model::Executor> two(2);
  two[0].id = "robot";
  two[1].id = "guest";
  return two;
}

std::vector<std::string> doubted(const std::vector<Doubt>& doubts) {
  std::vector<std::string> names;
  for (const Doubt& doubt : doubts) names.push_back(doubt.executor);
  return names;
}

TEST(Doubts, AreAboutTheProgramThatLostEventsAlone) {
  Doubts doubts;
  const auto two = executors();
  EXPECT_TRUE(doubts.next(two, {{.process = 1}, {.process = 2}}).empty());
  const auto lost = doubts.next(two, {{.process = 1}, {.process = 2, .lost_events = 1'101'696}});
  EXPECT_EQ(doubted(lost), std::vector<std::string>{"guest"});
  EXPECT_NE(lost[0].reason.find("1101696 events"), std::string::npos);
}

/// The model has no executor of a program that only emits events.
TEST(Doubts, AreNotAboutProgramsThatNoExecutorIsOf) {
  Doubts doubts;
  std::vector<model::Executor> one(1);
  one[0].id = "robot";
  EXPECT_TRUE(doubts.next(one, {{.process = 1}}).empty());
}

TEST(Doubts, AreAboutTheProgramThatRunsWhatNobodySawItMake) {
  Doubts doubts;
  const auto found = doubts.next(executors(), {{.process = 1}, {.process = 2, .unknown_runs = 3}});
  EXPECT_EQ(doubted(found), std::vector<std::string>{"guest"});
}

TEST(Doubts, OfALossEndAfterSomeDecisions) {
  Doubts doubts;
  const auto two = executors();
  const std::vector<Unseen> now{{.process = 1, .lost_events = 5}, {.process = 2}};
  for (int i = 0; i <= Doubts::loss_lasts; ++i) {
    EXPECT_EQ(doubted(doubts.next(two, now)), std::vector<std::string>{"robot"}) << i;
  }
  EXPECT_TRUE(doubts.next(two, now).empty());
}

/// How many decisions go by until nothing is doubted.
int decisions_until_sure(Doubts& doubts) {
  int number = 0;
  while (!doubts.next(executors(), {{.process = 1}, {.process = 2}}).empty()) ++number;
  return number;
}

TEST(Doubts, OfWhatTheKernelRefusedLastLongerEachTime) {
  Doubts doubts;
  for (const int expected : {1, 2, 4, 8, 10, 10}) {
    doubts.refused({{"robot", "refused"}});
    EXPECT_EQ(decisions_until_sure(doubts), expected);
  }
  // As many decisions later again it is as if the kernel had never refused anything.
  for (int i = 0; i < Doubts::longest_refusal; ++i) EXPECT_EQ(decisions_until_sure(doubts), 0);
  doubts.refused({{"robot", "refused"}});
  EXPECT_EQ(decisions_until_sure(doubts), 1);
}

TEST(Doubts, OfWhatTheKernelRefusedAreThereBesideALoss) {
  Doubts doubts;
  doubts.refused({{"robot", "refused"}});
  const auto found = doubts.next(executors(), {{.process = 1, .lost_events = 1}, {.process = 2}});
  EXPECT_EQ(std::ranges::count(found, "refused", &Doubt::reason), 1);
  EXPECT_EQ(found.size(), 2U);
}

}  // namespace
}  // namespace takt::manager
