#include "takt/ctf/event_classes.hpp"

#include <gtest/gtest.h>

namespace takt::ctf {
namespace {

// Names of hosts and programs are anybody's, and must not end the text that they stand in.
TEST(Ctf, LiteralsHoldNothingThatEndsThem) {
  EXPECT_EQ(literal("robot-1"), "\"robot-1\"");
  EXPECT_EQ(literal("a\"; b = \"\\\n"), "\"a; b = \"");
}

}  // namespace
}  // namespace takt::ctf
