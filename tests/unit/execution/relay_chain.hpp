#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "scenario.hpp"

namespace takt::test {

/// Three processes in a chain: /source –/topic_a→ /sync_one_to_one –/topic_b→ /sink, with a 5 ms
/// timer (message-flow fact 19).
class RelayChain : public testing::Test {
 protected:
  /// The timer runs for 100 µs and publishes at its end; the relay takes 200 µs after 50 µs, the
  /// sink 10 µs at once.
  void flow(std::int64_t start, std::int64_t stamp, bool reaches_sink = true) {
    scenario.now = start;
    scenario.run(source, timer, 100, std::pair(a, stamp));
    scenario.now += 50;
    scenario.handle(middle, on_a, stamp, 200, std::pair(b, stamp));
    if (reaches_sink) scenario.handle(sink, on_b, stamp, 10);
  }

  Scenario scenario;
  Program source = scenario.program(1, "h", "source");
  Program middle = scenario.program(2, "h", "middle");
  Program sink = scenario.program(3, "h", "sink");
  std::uint64_t source_node = scenario.node(source, "source");
  std::uint64_t middle_node = scenario.node(middle, "sync_one_to_one");
  std::uint64_t sink_node = scenario.node(sink, "sink");
  Publisher a = scenario.publisher(source, source_node, "/topic_a");
  Publisher b = scenario.publisher(middle, middle_node, "/topic_b");
  std::uint64_t timer = scenario.timer(source, source_node, std::chrono::milliseconds(5));
  Subscription on_a = scenario.subscription(middle, middle_node, "/topic_a");
  Subscription on_b = scenario.subscription(sink, sink_node, "/topic_b");
};

}  // namespace takt::test
