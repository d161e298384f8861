#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "synthesized.hpp"

namespace takt::synthesis {

/// A timer whose messages a subscription of another process relays to a third callback.
class Pipeline : public testing::Test {
 protected:
  test::Scenario scenario;
  test::Program first = scenario.program(1, "h", "first");
  test::Program second = scenario.program(2, "h", "second");
  std::uint64_t sensor = scenario.node(first, "sensor");
  std::uint64_t filter = scenario.node(second, "filter");
  std::uint64_t control = scenario.node(second, "control");
  test::Publisher raw = scenario.publisher(first, sensor, "/raw");
  test::Publisher clean = scenario.publisher(second, filter, "/clean");
  std::uint64_t timer = scenario.timer(first, sensor, std::chrono::milliseconds(10), "S::tick()");
  test::Subscription on_raw = scenario.subscription(second, filter, "/raw", "F::on_raw()");
  test::Subscription on_clean = scenario.subscription(second, control, "/clean", "C::run()");

  void flow(std::int64_t start, std::int64_t stamp) {
    scenario.now = start;
    scenario.run(first, timer, 100, std::pair(raw, stamp));
    scenario.handle(second, on_raw, stamp, 200 + stamp, std::pair(clean, stamp));
    scenario.handle(second, on_clean, stamp, 300);
  }
};

}  // namespace takt::synthesis
