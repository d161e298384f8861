#include "takt/linux/affinity.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace takt::linux_os {
namespace {

TEST(Affinity, IsWhatWasSet) {
  std::thread([] {
    const Result<std::vector<int>> before = affinity(0);
    ASSERT_TRUE(before.has_value()) << before.error().message;
    ASSERT_FALSE(before->empty());
    const std::vector<int> last = {before->back()};
    ASSERT_TRUE(set_affinity(0, last).has_value());
    EXPECT_EQ(affinity(0).value(), last);
  }).join();
}

TEST(Affinity, NamesTheProcessorThatIsMissing) {
  const Result<void> high = set_affinity(0, {8191});
  ASSERT_FALSE(high.has_value());
  EXPECT_THAT(high.error().message,
              testing::EndsWith("to processor 8191: this machine has no such processor for it"));
  EXPECT_EQ(set_affinity(0, {-1}).error().message, "there is no processor -1");
}

}  // namespace
}  // namespace takt::linux_os
