#include "takt/execution/active_phase.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {
namespace {

using nlohmann::json;
using test::Program;
using test::Scenario;

/// Another thread than ROS 2's has page faults: they are not lost, and named if a switch tells how.
TEST(ActivePhase, FaultsOfThreadsWithoutEventsAreCountedAndNamed) {
  Scenario scenario;
  Program program = scenario.program(7);
  Program kernel = scenario.program(0);
  const std::uint64_t node = scenario.node(program, "n");
  const std::uint64_t timer = scenario.timer(program, node, std::chrono::milliseconds(5));
  const auto fault = [&](std::int32_t thread) {
    scenario.add(kernel, tracepoints::PageFaultUser{.tid = thread, .address = 1, .ip = 2});
  };
  scenario.now = 10'000;
  scenario.run(program, timer, 10);
  fault(50);  // still start-up
  scenario.now = 2'000'000;
  scenario.run(program, timer, 10);
  scenario.add(kernel, tracepoints::SchedSwitch{.prev_comm = "logger",
                                                .prev_tid = 50,
                                                .prev_prio = 20,
                                                .prev_state = 0,
                                                .next_comm = "n",
                                                .next_tid = 7,
                                                .next_prio = 20});
  for (const std::int32_t thread : {50, 50, 60, 7}) fault(thread);

  ActivePhase active;
  Interpreter interpreter(scenario.threads());
  interpreter.add(active);
  scenario.rewind();
  const Pass pass = run(scenario, interpreter, {});
  const json document = json::parse(active.to_json(scenario, interpreter.database(), pass));
  EXPECT_EQ(document["in_start_up"], json({{"page fault", 1}}));
  ASSERT_EQ(document["calls"].size(), 1u);
  EXPECT_EQ(document["calls"][0]["tid"], 7);
  EXPECT_EQ(document["calls"][0]["count"], 1);
  ASSERT_EQ(document["elsewhere"].size(), 2u);
  EXPECT_EQ(document["elsewhere"][0]["thread"], "logger");
  EXPECT_EQ(document["elsewhere"][0]["tid"], 50);
  EXPECT_EQ(document["elsewhere"][0]["count"], 2);
  EXPECT_EQ(document["elsewhere"][1]["thread"], nullptr);
  EXPECT_EQ(document["elsewhere"][1]["tid"], 60);
}

}  // namespace
}  // namespace takt::execution
