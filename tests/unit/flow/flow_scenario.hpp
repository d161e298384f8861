#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/flow_document.hpp"
#include "takt/flow/flows.hpp"

namespace takt::flow {

using nlohmann::json;
using test::EventType;
using test::Program;
using test::Scenario;

/// Checks the properties that every takt/flow document has, and returns that of a scenario.
inline json follow(Scenario& scenario, FlowOptions options = {}) {
  options.instances = true;
  FlowTracker tracker(options);
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(tracker);
  scenario.rewind();
  const auto pass = execution::run(scenario, interpreter, {});
  const auto done = tracker.finish(interpreter.database());
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  const json document = json::parse(to_json(scenario, interpreter.database(), pass, tracker));
  for (const json& flow : document["flows"]) {
    std::int64_t shares = 0;
    for (const json& share : flow["breakdown"]) {
      shares += share.get<std::int64_t>();
    }
    EXPECT_EQ(shares, flow["mean"]) << flow.dump(1);
    for (const json& worst : flow["worst"]) {  // fact 33
      std::int64_t parts = 0;
      for (const json& part : worst["parts"]) {
        parts += part["duration"].get<std::int64_t>();
        EXPECT_LT(part["step"], flow["path"].size());
      }
      EXPECT_EQ(parts, worst["latency"]) << flow.dump(1);
    }
    EXPECT_EQ(flow["instances"].size(), flow["count"]);
    for (const json& instance : flow["instances"]) {
      EXPECT_EQ(instance["times"].size(), flow["path"].size()) << flow.dump(1);
    }
  }
  return document;
}

inline FlowOptions between(const std::string& from, const std::string& to) {
  FlowOptions options;
  options.from = from;
  options.to = to;
  return options;
}

/// The callbacks of each path, "a > b > c", sorted.
inline std::vector<std::string> paths(const json& document) {
  std::vector<std::string> all;
  for (const json& flow : document["flows"]) {
    std::string path;
    for (const json& step : flow["path"]) {
      path += (path.empty() ? "" : " > ") +
              (step["callback"].is_null() ? "?" : step["callback"].get<std::string>());
    }
    all.push_back(path);
  }
  std::ranges::sort(all);
  return all;
}

/// The times from the source's publication to the sink's start, in the order of the sinks, ms.
inline std::vector<double> latencies(const json& flow) {
  std::vector<double> all;
  for (const json& instance : flow["instances"]) {
    all.push_back(instance["latency"].get<double>() / 1e6);
  }
  return all;
}

/// A node that receives /a and /b and publishes /c; what it does beyond that is up to the test.
class Merger : public testing::Test {
 protected:
  Scenario scenario;
  Program outside = scenario.program(1, "h", "outside");
  Program program = scenario.program(2, "h", "merger");
  Program after = scenario.program(3, "h", "after");
  std::uint64_t sources = scenario.node(outside, "sources");
  std::uint64_t node = scenario.node(program, "merger");
  std::uint64_t end_node = scenario.node(after, "sink");
  test::Publisher a = scenario.publisher(outside, sources, "/a");
  test::Publisher b = scenario.publisher(outside, sources, "/b");
  test::Publisher c = scenario.publisher(program, node, "/c");
  test::Subscription on_a = scenario.subscription(program, node, "/a");
  test::Subscription on_b = scenario.subscription(program, node, "/b");
  test::Subscription on_c = scenario.subscription(after, end_node, "/c");
};

}  // namespace takt::flow
