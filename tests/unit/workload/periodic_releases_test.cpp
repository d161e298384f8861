#include "takt/workload/periodic_releases.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace takt::workload {
namespace {

using std::chrono::steady_clock;

TEST(PeriodicReleases, KeepTheGridAndMakeUpForLateOnes) {
  constexpr Duration period = std::chrono::milliseconds(5);
  const auto begin = steady_clock::now();
  std::vector<steady_clock::time_point> calls;
  PeriodicReleases* self = nullptr;
  PeriodicReleases releases(period, [&] {
    calls.push_back(steady_clock::now());
    if (calls.size() == 1) std::this_thread::sleep_for(4 * period);
    if (calls.size() == 6) self->stop();
  });
  self = &releases;
  releases.run();
  ASSERT_EQ(calls.size(), 6U);
  // No call comes before its instant of the grid, although the first one delays those after it.
  for (std::size_t k = 0; k < calls.size(); ++k) {
    EXPECT_GE(calls[k] - begin, period * static_cast<int>(k + 1)) << k;
  }
}

TEST(PeriodicReleases, StoppedBeforeTheyRunReleaseNothing) {
  PeriodicReleases releases(Duration(1), [] { FAIL(); });
  releases.stop();
  releases.run();
}

}  // namespace
}  // namespace takt::workload
