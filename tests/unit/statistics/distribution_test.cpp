#include "takt/statistics/distribution.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace takt::statistics {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Distribution, IsExactForFewValues) {
  Distribution values;
  for (const int value : {5, 1, 4, 2, 3}) values.record(Duration(value));
  EXPECT_EQ(values.count(), 5u);
  EXPECT_EQ(values.min(), Duration(1));
  EXPECT_EQ(values.max(), Duration(5));
  EXPECT_EQ(values.mean(), 3);
  EXPECT_NEAR(values.standard_deviation(), std::sqrt(2.0), 1e-9);
  EXPECT_EQ(values.quantile(0), Duration(1));
  EXPECT_EQ(values.quantile(0.2), Duration(1));
  EXPECT_EQ(values.quantile(0.21), Duration(2));
  EXPECT_EQ(values.quantile(0.5), Duration(3));
  EXPECT_EQ(values.quantile(1), Duration(5));
}

/// The least value that at least the share q of all does not exceed.
Duration exact_quantile(std::vector<Duration> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(std::ceil(q * static_cast<double>(values.size()))) - 1];
}

/// Quantiles come from whole values up to max_kept of them, and from buckets beyond; a bucket's
/// greatest value stands for it, which is at most 2^-8 of the value away from any in it.
TEST(Distribution, QuantilesOfManyValuesAreRightToAFewPerMille) {
  for (const bool is_negative : {false, true}) {
    std::mt19937_64 random(3);
    std::lognormal_distribution<double> draw(13, 2);
    Distribution values;
    std::vector<Duration> all;
    for (int i = 0; i < 50'000; ++i) {
      const auto drawn = static_cast<std::int64_t>(draw(random));
      all.emplace_back(is_negative ? -drawn : drawn);
      values.record(all.back());
    }
    for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
      const auto exact = static_cast<double>(exact_quantile(all, q).count());
      const auto found = static_cast<double>(values.quantile(q).count());
      EXPECT_GE(found, exact) << q;
      EXPECT_LE(found, exact + 0.004 * std::abs(exact) + 1) << q;
    }
    EXPECT_EQ(values.min(), *std::ranges::min_element(all));
    EXPECT_EQ(values.max(), *std::ranges::max_element(all));
  }
}

TEST(Distribution, TheLastWholeValueAndTheFirstBucketAgree) {
  Distribution values;
  for (std::size_t i = 1; i <= Distribution::max_kept; ++i) {
    values.record(Duration(static_cast<std::int64_t>(i % 100)));  // buckets of their own
  }
  const Duration before = values.quantile(0.5);
  values.record(Duration(50));
  EXPECT_EQ(values.quantile(0.5), before);
}

TEST(Distribution, CountsWhatIsAboveALimit) {
  for (const int number : {100, 50'000}) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> draw(0, 1e6);
    Distribution values;
    std::vector<Duration> all;
    for (int i = 0; i < number; ++i) {
      all.emplace_back(static_cast<std::int64_t>(draw(random)));
      values.record(all.back());
    }
    const auto above = [&](Duration limit) {
      return static_cast<std::uint64_t>(
          std::ranges::count_if(all, [&](Duration value) { return value > limit; }));
    };
    for (const int limit : {-2'000'000, -1, 0, 300, 700'000, 3'000'000}) {
      const std::uint64_t found = values.count_above(Duration(limit));
      EXPECT_GE(found, above(Duration(limit))) << limit;
      const int room = number == 100 ? 0 : std::abs(limit) / 250 + 1;
      EXPECT_LE(found, above(Duration(limit - room))) << limit;
    }
    EXPECT_EQ(values.count_above(values.max()), 0u);
    EXPECT_GE(values.count_above(values.max() - Duration(1)), 1u);
    EXPECT_EQ(values.count_above(values.min() - Duration(1)), all.size());
    const std::uint64_t before = values.count_above(Duration(5));
    values.shift(Duration(100));
    EXPECT_EQ(values.count_above(Duration(105)), before);
  }
  EXPECT_EQ(Distribution().count_above(Duration(0)), 0u);
}

TEST(Distribution, ShiftMovesAllValuesRecordedSoFar) {
  Distribution values;
  values.record(Duration(10));
  values.record(Duration(30));
  values.shift(Duration(-5));
  EXPECT_EQ(values.min(), Duration(5));
  EXPECT_EQ(values.max(), Duration(25));
  EXPECT_EQ(values.mean(), 15);
  EXPECT_EQ(values.quantile(0.5), Duration(5));
  EXPECT_THAT(values.samples(2), ElementsAre(Duration(5), Duration(25)));
  values.record(Duration(7));
  EXPECT_EQ(values.quantile(0.5), Duration(7));
}

TEST(Distribution, SamplesAreSpreadOverTheWholeStreamInItsOrder) {
  Distribution values;
  for (std::int64_t i = 100; i >= 1; --i) values.record(Duration(i));
  EXPECT_THAT(values.samples(3), ElementsAre(Duration(100), Duration(66), Duration(32)));
  EXPECT_THAT(Distribution().samples(10), IsEmpty());
}

TEST(Distribution, MemoryIsBoundedAndExtremesStayExact) {
  Distribution values;
  constexpr std::int64_t n = 1'000'000;
  for (std::int64_t i = 0; i < n; ++i) values.record(Duration(i == 777'777 ? 5 * n : i));
  EXPECT_EQ(values.count(), static_cast<std::uint64_t>(n));
  EXPECT_EQ(values.max(), Duration(5 * n));
  const auto samples = values.samples(n);
  EXPECT_LE(samples.size(), Distribution::max_kept);
  EXPECT_GE(samples.size(), Distribution::max_kept / 2);
  EXPECT_TRUE(std::ranges::is_sorted(samples));
}

TEST(Distribution, MeanOfFarAwayValuesKeepsItsDigits) {
  Distribution values;
  for (const std::int64_t value : {1, 2, 3}) {
    values.record(Duration(4'000'000'000'000'000 + value));
  }
  EXPECT_NEAR(values.standard_deviation(), std::sqrt(2.0 / 3), 1e-9);
}

}  // namespace
}  // namespace takt::statistics
