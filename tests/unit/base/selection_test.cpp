#include "takt/base/selection.hpp"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(Selection, APatternWithoutAColonIsATopicsOrANodes) {
  EXPECT_TRUE(matches("/tf*", "/robot", "/tf_static"));
  EXPECT_TRUE(matches("robot", "/robot", "/tf"));
  EXPECT_FALSE(matches("/robo", "/robot", "/tf"));
  EXPECT_TRUE(matches("/perception/**", "/perception/left/camera", ""));
  EXPECT_TRUE(matches("robot:tf", "/robot", "/tf"));
  EXPECT_FALSE(matches("robot:tf", "/other", "/tf"));
  EXPECT_FALSE(matches("robot:tf", "/robot", "/tf_static"));
}

TEST(Selection, WhatIsExcludedIsNotIncluded) {
  EXPECT_TRUE(Selection().has("/n", "/t"));
  const Selection both{{"/n"}, {"/t"}};
  EXPECT_TRUE(both.has("/n", ""));
  EXPECT_FALSE(both.has("/n", "/t"));
  EXPECT_FALSE(both.has("/m", "/s"));
}

}  // namespace
}  // namespace takt
