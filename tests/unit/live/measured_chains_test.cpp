#include "takt/live/measured_chains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::live {
namespace {

using namespace std::chrono_literals;

/// A timer that publishes to a subscription every 10 ms, and another timer that may begin to run.
class MeasuredChainsTest : public testing::Test {
 protected:
  MeasuredChainsTest() : interpreter_(robot_.threads()) {
    interpreter_.add(synthesizer_);
    interpreter_.add(chains_);
  }

  void run(int cycles, bool other_runs = false) {
    for (int i = 0; i < cycles; ++i) {
      const std::int64_t begin = robot_.now;
      robot_.run(program_, tick_, 100, std::pair(raw_, begin + 1));
      robot_.handle(program_, on_raw_, begin + 1, 200);
      if (other_runs) robot_.run(program_, other_, 50);
      robot_.now = begin + 10'000;
    }
    robot_.drain(batch_);
    interpreter_.consume(batch_);
    chains_.follow_until(batch_.events.back().time - 500ms);
  }

  /// Measures what runs now, with a goal that every instance misses.
  void refresh() {
    execution::Pass pass;
    pass.last = batch_.events.back().time;
    model::Model model = synthesizer_.model(robot_, interpreter_.database(), pass, {}).value();
    for (model::Chain& chain : model.chains) chain.goal = 1us;
    chains_.replace(model, interpreter_.database());
  }

  /// The window of the chain from the timer to the subscription.
  [[nodiscard]] const ChainWindow& window() const {
    const auto found = std::ranges::find(chains_.chains(), 2U,
                                         [](const auto& chain) { return chain.callbacks.size(); });
    return chains_.windows().at(static_cast<std::size_t>(found - chains_.chains().begin()));
  }

  test::Scenario robot_;
  test::Program program_ = robot_.program(1);
  std::uint64_t node_ = robot_.node(program_, "node");
  test::Publisher raw_ = robot_.publisher(program_, node_, "/raw");
  std::uint64_t tick_ = robot_.timer(program_, node_, 10ms);
  std::uint64_t other_ = robot_.timer(program_, node_, 10ms);
  test::Subscription on_raw_ = robot_.subscription(program_, node_, "/raw");
  execution::Interpreter interpreter_;
  synthesis::Synthesizer synthesizer_;
  MeasuredChains chains_;
  events::Batch batch_;
};

/// Chains are followed half a second after they ended, so 20 instances were not when another timer
/// begins to run.
TEST_F(MeasuredChainsTest, LoseNoInstanceWhenTheStructureChanges) {
  run(150);  // start-up is over after a second
  refresh();
  run(20);
  EXPECT_EQ(window().total(), 0U);
  run(1, true);
  refresh();
  EXPECT_EQ(window().total(), 21U);
  EXPECT_EQ(window().missed(), 21U);
  run(100, true);
  EXPECT_EQ(window().total(), 21U + 50U);
}

}  // namespace
}  // namespace takt::live
