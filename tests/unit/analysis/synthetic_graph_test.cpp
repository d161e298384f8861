#include <gmock/gmock.h>

#include <array>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// The synthetic graph of ros-llama S-5.2 (§6.2, Figs. 6.3 and 6.4). Its unit is 1 µs = ε, so a
/// nanosecond of the model stands for a microsecond of the document.
namespace takt::analysis {
namespace {

using model::ModelBuilder;

model::Model synthetic_graph(std::size_t burst, int fan_in) {
  ModelBuilder builder;
  const auto e =
      builder.executor(model::ReservationSupply{Duration{700}, Duration{1000}, Duration{1000}});
  std::vector<model::CallbackIndex> predecessors;
  for (int i = 0; i < fan_in; ++i) {
    predecessors.push_back(builder.subscription(
        e, Duration{1},
        model::MinDistanceActivation{{Duration{0}, Duration{10}, Duration{10'000}}}));
  }
  std::vector<model::CallbackIndex> chain{predecessors.front()};
  for (int i = 0; i < 6; ++i) chain.push_back(builder.subscription(e, Duration{50}));
  builder.subscription(e, Duration{10}, model::bursts(burst, Duration{10'000}));
  for (const auto predecessor : predecessors) builder.edge(predecessor, chain[1]);
  builder.chain(chain);
  return builder.model();
}

std::int64_t chain_bound(std::size_t burst, int fan_in, Method method) {
  const auto bounds = analyze(synthetic_graph(burst, fan_in), {.method = method});
  return bounds.chains.at(0).bound.value_or(Duration{-1}).count();
}

constexpr std::array<std::size_t, 9> burst_sizes{1, 9, 10, 12, 13, 14, 15, 20, 24};

TEST(RosLlamaFact, F34_RoundRobinBoundsOfTheSyntheticGraph) {
  const std::array<std::int64_t, 9> expected{1212, 1292, 1602, 1622, 1632, 1642, 1642, 1642, 1642};
  for (std::size_t i = 0; i < burst_sizes.size(); ++i) {
    EXPECT_EQ(chain_bound(burst_sizes[i], 1, Method::round_robin), expected[i]) << burst_sizes[i];
  }
}

TEST(RosLlamaFact, F34_BusyWindowBoundsOfTheSyntheticGraph) {
  const std::array<std::int64_t, 9> expected{1212, 1292, 1602, 1622, 1632, 1642, 1652, 1702, 1742};
  for (std::size_t i = 0; i < burst_sizes.size(); ++i) {
    EXPECT_EQ(chain_bound(burst_sizes[i], 1, Method::busy_window), expected[i]) << burst_sizes[i];
  }
}

TEST(RosLlamaFact, F34_BusyWindowBoundsForGrowingFanIn) {
  const std::array<std::int64_t, 11> expected{1602, 2204, 3106, 4008, 4910, 5812,
                                              6714, 7616, 8218, 9120, 19744};
  for (std::size_t f = 1; f <= expected.size(); ++f) {
    EXPECT_EQ(chain_bound(10, static_cast<int>(f), Method::busy_window), expected[f - 1]) << f;
  }
}

TEST(RosLlamaFact, F34_RoundRobinBoundsForGrowingFanIn) {
  const std::array<std::int64_t, 5> expected{1602, 3804, 8912, 18'716, 52'860};
  for (std::size_t f = 1; f <= expected.size(); ++f) {
    EXPECT_EQ(chain_bound(10, static_cast<int>(f), Method::round_robin), expected[f - 1]) << f;
  }
}

TEST(RosLlamaFact, F21_ShapeOfTheFigure) {
  for (std::size_t b = 14; b < 30; ++b) {
    EXPECT_EQ(chain_bound(b, 1, Method::round_robin), chain_bound(14, 1, Method::round_robin));
  }
  for (std::size_t b = 1; b < 30; ++b) {
    EXPECT_LT(chain_bound(b, 1, Method::busy_window), chain_bound(b + 1, 1, Method::busy_window));
  }
  const auto nine = chain_bound(10, 9, Method::round_robin);
  EXPECT_TRUE(nine == -1 || nine >= 2 * chain_bound(10, 9, Method::busy_window)) << nine;
}

TEST(RosLlamaFact, F20_CombinedIsTheLesserOfBoth) {
  for (const std::size_t b : burst_sizes) {
    const auto lesser =
        std::min(chain_bound(b, 1, Method::round_robin), chain_bound(b, 1, Method::busy_window));
    EXPECT_EQ(chain_bound(b, 1, Method::combined), lesser) << b;
  }
  for (int f = 1; f <= 10; ++f) {
    const auto round_robin = chain_bound(10, f, Method::round_robin);
    const auto busy_window = chain_bound(10, f, Method::busy_window);
    const auto lesser = round_robin < 0 ? busy_window : std::min(round_robin, busy_window);
    EXPECT_EQ(chain_bound(10, f, Method::combined), lesser) << f;
  }
}

}  // namespace
}  // namespace takt::analysis
