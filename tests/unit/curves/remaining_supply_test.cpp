#include "takt/curves/remaining_supply.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "takt/curves/supply_bound.hpp"

namespace takt::curves {
namespace {

/// Others that take what a table says: the n-th value of a window of n.
class Table final : public RemainingSupply {
 public:
  explicit Table(std::vector<Duration> values) : values_(std::move(values)) {}
  [[nodiscard]] Int128 share() const override { return 1; }
  [[nodiscard]] std::optional<Line> line_below() const override { return std::nullopt; }

 private:
  [[nodiscard]] Duration taken(Duration window) const {
    const auto n = static_cast<std::size_t>(window.count());
    return n < values_.size() ? values_[n] : unbounded_time;
  }
  [[nodiscard]] Duration left(Duration window) const override {
    return window - std::min(window, taken(window));
  }
  [[nodiscard]] Duration next_window(Duration demand, Duration window) const override {
    return std::max(window, saturating_add(demand, taken(window)));
  }
  std::vector<Duration> values_;
};

std::vector<Duration> random_table(std::mt19937_64& random) {
  std::vector<Duration> values{Duration{0}};
  while (values.size() < 60) {
    const bool steps = random() % 4 == 0;
    values.push_back(values.back() + Duration{steps ? static_cast<std::int64_t>(random() % 5) : 0});
  }
  return values;
}

TEST(RemainingSupply, IsTheMostThatAnyBeginningOfTheWindowLeaves) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Duration> values = random_table(random);
    const auto remaining = std::make_shared<Table>(values);
    const SupplyBound bound = SupplyBound::remaining(remaining);
    std::vector<Duration> left{Duration{0}};
    for (std::size_t n = 1; n < values.size(); ++n) {
      left.push_back(std::max(left.back(), Duration{static_cast<std::int64_t>(n)} - values[n]));
    }
    EXPECT_EQ(bound.supply(Duration{0}), Duration{0});
    EXPECT_EQ(bound.time_for(Duration{0}), Duration{0});
    // In any order, as an answer remembers the one before.
    for (int question = 0; question < 100; ++question) {
      const std::size_t n = random() % values.size();
      EXPECT_EQ(bound.supply(Duration{static_cast<std::int64_t>(n)}), left[n]);
      const Duration demand{static_cast<std::int64_t>(random() % values.size())};
      const auto least = std::ranges::lower_bound(left, demand);
      EXPECT_EQ(bound.time_for(demand),
                least == left.end() ? unbounded_time : Duration{least - left.begin()});
    }
    EXPECT_GT(bound.blackout(), Duration{0});
  }
}

}  // namespace
}  // namespace takt::curves
