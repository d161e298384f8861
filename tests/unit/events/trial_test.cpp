#include "trial.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace takt::events {
namespace {

TEST(TrialTest, WhatEndsWellChangesNothingHere) {
  int value = 1;
  EXPECT_TRUE(ends_well([&value] { value = 2; }));
  EXPECT_EQ(value, 1);
}

TEST(TrialTest, WhatAbortsIsSurvived) {
  EXPECT_FALSE(ends_well([] { std::abort(); }));
  EXPECT_FALSE(ends_well([] { std::raise(SIGKILL); }));
}

}  // namespace
}  // namespace takt::events
