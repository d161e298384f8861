#include <gmock/gmock.h>

#include <chrono>
#include <utility>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {
namespace {

using namespace std::chrono_literals;

/// A gate takes messages as they come, and publishes each when its slot begins.
TEST(Gates, LeadChainsOnAndHaveNoBound) {
  test::Scenario scenario;
  test::Program robot = scenario.program(1, "h", "robot");
  const auto sender = scenario.node(robot, "sender");
  const auto tick = scenario.timer(robot, sender, 50ms);
  const auto ready = scenario.publisher(robot, sender, "/cmd/unshaped");
  test::Program gate = scenario.program(2, "h", "takt-gate");
  const auto gate_node = scenario.node(gate, "takt_gate");
  const auto held = scenario.subscription(gate, gate_node, "/cmd/unshaped");
  const auto shaped = scenario.publisher(gate, gate_node, "/cmd");
  scenario.add(gate, tracepoints::ExecutorInit{.executor = "takt_gate",
                                               .kind = "gate",
                                               .timers = "polled",
                                               .threads = 1,
                                               .policy = "other"});
  for (std::int64_t i = 1; i <= 20; ++i) {
    scenario.now = 2'000'000 + 50'000 * i;
    scenario.run(robot, tick, 100, std::pair(ready, i));
    scenario.take(gate, held, i);
    scenario.add(gate, tracepoints::MessageKept{.message = 0x10});
    scenario.now += 12'000;
    scenario.add(gate, tracepoints::MessageChosen{.message = 0x10});
    scenario.run(gate, held.callback, 10, std::pair(shaped, i));
  }
  Synthesizer synthesizer;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(synthesizer);
  const auto pass = execution::run(scenario, interpreter, {});
  const auto model = synthesizer.model(scenario, interpreter.database(), pass, {}).value();
  ASSERT_EQ(model.edges.size(), 1);
  EXPECT_EQ(model[model.edges[0].from].id, "/sender:timer-50ms");
  const model::Callback& release = model[model.edges[0].to];
  EXPECT_EQ(release.id, "/takt_gate:/cmd/unshaped");
  EXPECT_THAT(model.executors[release.executor.value()].unclassifiable,
              testing::Optional(testing::HasSubstr("until their slots")));
}

}  // namespace
}  // namespace takt::synthesis
