#include "gated_thread.hpp"

#include <gtest/gtest.h>

namespace takt::workload {
namespace {

TEST(GatedThread, RunsItsBodyOnlyIfItIsLetGo) {
  bool ran = false;
  const auto body = [&] { ran = true; };
  { const GatedThread never({}, body); }
  EXPECT_FALSE(ran);
  {
    GatedThread not_yet({}, body);
    EXPECT_TRUE(not_yet.set_up());
  }
  EXPECT_FALSE(ran) << "what came between failed";
  {
    GatedThread whole({}, body);
    EXPECT_TRUE(whole.set_up());
    whole.go();
  }
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace takt::workload
