#include <gtest/gtest.h>

#include "ctf/tracepoints.hpp"

namespace takt::capture::ctf {
namespace {

// Names of hosts and programs are anybody's, and must not end the text that they stand in.
TEST(Ctf, LiteralsHoldNothingThatEndsThem) {
  EXPECT_EQ(literal("robot-1"), "\"robot-1\"");
  EXPECT_EQ(literal("a\"; b = \"\\\n"), "\"a; b = \"");
}

}  // namespace
}  // namespace takt::capture::ctf
