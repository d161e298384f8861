#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/goals/goals.hpp"
#include "takt/manager/log.hpp"
#include "takt/manager/manager.hpp"
#include "takt/synthesis/synthesizer.hpp"

/// A robot's working day in simulated time: events, the model made of them, a decision every 6 s.
namespace takt::manager {
namespace {

using test::Program;
using test::Scenario;

constexpr std::int64_t second = 1'000'000;  // of the scenario's clock, which counts microseconds
constexpr std::int64_t hour = 3600 * second;

/// Two chains of a timer and a subscription, each with processes of its own: every 100 ms, with
/// execution times that vary by a fifth.
class Robot {
 public:
  explicit Robot(Scenario& scenario) : to_(scenario) {}

  /// What happens in 100 ms. `load`: how many times longer than usual the second chain's callbacks
  /// take.
  void live(std::int64_t load) {
    const std::int64_t begin = to_.now;
    for (Chain* const chain : {&pilot_, &tracker_}) {
      const std::int64_t cost = (chain == &tracker_ ? load : 1) * costs_(random_);
      to_.look(chain->first);
      to_.run(chain->first, chain->timer, cost, std::pair(chain->out, begin * 1000 + 1));
      wait(chain->first);
      to_.now += 100;
      to_.look(chain->second);
      to_.handle(chain->second, chain->reader, begin * 1000 + 1, cost);
      wait(chain->second);
    }
    to_.now = begin + second / 10;
  }

 private:
  void wait(const Program& program) {
    to_.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  }

  struct Chain {
    Chain(Scenario& to, std::int64_t process, const std::string& name)
        : first(to.program(process, "h", name + "_source")),
          second(to.program(process + 1, "h", name + "_sink")),
          source(to.node(first, name + "_source")),
          sink(to.node(second, name + "_sink")),
          out(to.publisher(first, source, "/" + name)),
          timer(to.timer(first, source, std::chrono::milliseconds(100))),
          reader(to.subscription(second, sink, "/" + name)) {}
    Program first;
    Program second;
    std::uint64_t source;
    std::uint64_t sink;
    test::Publisher out;
    std::uint64_t timer;
    test::Subscription reader;
  };
  Scenario& to_;
  std::minstd_rand random_{8};
  std::uniform_int_distribution<std::int64_t> costs_{4'000, 5'000};
  Chain pilot_{to_, 1, "pilot"};
  Chain tracker_{to_, 3, "tracker"};
};

TEST(Soak, EightHoursInWhichEveryDecisionHasItsReason) {
  Scenario scenario;
  Robot robot(scenario);
  synthesis::Synthesizer synthesizer;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(synthesizer);
  events::Batch batch;
  execution::Pass pass;
  Manager manager;
  const std::vector<goals::Goal> wanted{
      {.name = "pilot", .from = "/pilot_source", .to = "/pilot_sink", .via = {}, .latency = {}},
      {.name = "tracker",
       .from = "/tracker_source",
       .to = "/tracker_sink",
       .via = {},
       .latency = {}}};

  const std::int64_t begin = scenario.now;
  std::size_t changed = 0;
  std::size_t in_use_after_an_hour = 0;
  std::string log = header_line(manager.options());
  for (int decisions = 1; scenario.now - begin < 8 * hour; ++decisions) {
    // In the fifth hour the less important chain is asked for more than the machine can do.
    const bool surges = scenario.now - begin > 5 * hour;
    for (int i = 0; i < 60; ++i) robot.live(surges ? 12 : 1);
    scenario.drain(batch);
    interpreter.consume(batch);
    pass.last = batch.events.back().time;
    auto made = synthesizer.model(scenario, interpreter.database(), pass, {});
    ASSERT_TRUE(made);
    made->chains.clear();
    for (const goals::Goal& goal : wanted) {
      auto ways = goals::find_ways(*made, goal);
      ASSERT_TRUE(ways) << ways.error().message;
      ASSERT_EQ(ways->counted.size(), 1U);
      model::Chain& chain = made->chains.emplace_back();
      chain.id = goal.name;
      chain.callbacks = std::move(ways->counted.front().callbacks);
      chain.goal = std::chrono::milliseconds(100);
      chain.rank = static_cast<std::int64_t>(made->chains.size());
    }
    const Situation situation{.time = pass.last,
                              .model = std::move(*made),
                              .missing_goals = {},
                              .doubts = {},
                              .cores = {.pinnable = std::vector<int>{}}};
    const Decision decision = manager.decide(situation);

    ASSERT_EQ(decision.chains.size(), 2u);
    ASSERT_EQ(decision.chains[0].state, ChainState::guaranteed)
        << decisions << ": " << decision.chains[0].reason;
    ASSERT_EQ(decision.chains[1].state, surges ? ChainState::degraded : ChainState::guaranteed)
        << decisions << ": " << decision.chains[1].reason;
    EXPECT_EQ(decision.chains[1].reason.empty(), !surges);
    for (const ChainDecision& chain : decision.chains) {
      EXPECT_LE(chain.bound.value_or(Duration{0}), *chain.goal) << decisions;
    }
    changed += decision.changes.empty() ? 0u : 1u;
    if (decisions <= 20) log += entry_line(situation, decision);
    if (decisions == 600) in_use_after_an_hour = mallinfo2().uordblks;
  }
  // Execution times only grow while they are learned, so budgets settle: what changes later is the
  // surge alone.
  EXPECT_LE(changed, 12u);
  EXPECT_LE(mallinfo2().uordblks, in_use_after_an_hour + 256 * 1024)
      << "the scenario's names included; it was " << in_use_after_an_hour;
  const auto again = replay(log, "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, testing::IsEmpty());
}

}  // namespace
}  // namespace takt::manager
