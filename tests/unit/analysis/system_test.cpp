#include "system/system.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model_builder.hpp"
#include "takt/base/isolated.hpp"

/// Compiled models.
namespace takt::analysis {
namespace {

/// Many messages at once from one callback to another, and many that each of them triggers.
TEST(System, TakesMemoryForTheModelAlone) {
  constexpr std::size_t many = 5000;
  const auto compiled = [](const Output& give) {
    model::ModelBuilder builder;
    const auto executor = builder.executor();
    const auto sends = builder.timer(executor, Duration{1}, model::every(Duration{1000}));
    const auto relays = builder.subscription(executor, Duration{1});
    const auto sink = builder.subscription(executor, Duration{1});
    for (std::size_t n = 0; n < many; ++n) builder.edge(sends, relays);
    for (std::size_t n = 0; n < many; ++n) builder.edge(relays, sink).triggered_by = {{sends}};
    const System system(builder.model());
    const std::string triggers = std::to_string(system.edges.back().triggers->size());
    give(std::as_bytes(std::span(triggers)));
  };
  EXPECT_EQ(isolated(compiled, {.memory = std::size_t{128} << 20}), std::to_string(many));
}

}  // namespace
}  // namespace takt::analysis
