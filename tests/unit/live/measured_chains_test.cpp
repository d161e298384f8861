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
    consume();
  }

  void consume() {
    robot_.drain(batch_);
    interpreter_.consume(batch_);
    chains_.follow_until(Instant(std::chrono::microseconds(robot_.now)) - 510ms);
  }

  /// Measures what runs now, with a goal that every instance misses.
  void refresh() {
    execution::Pass pass;
    pass.last = batch_.events.back().time;
    model::Model model = synthesizer_.model(robot_, interpreter_.database(), pass, {}).value();
    for (model::Chain& chain : model.chains) chain.goal = 1us;
    chains_.replace(model, interpreter_.database());
  }

  /// The chain from the timer to the subscription, and its window.
  [[nodiscard]] std::size_t chain() const {
    const auto found = std::ranges::find(chains_.chains(), 2U,
                                         [](const auto& chain) { return chain.callbacks.size(); });
    return static_cast<std::size_t>(found - chains_.chains().begin());
  }
  [[nodiscard]] const ChainWindow& window() const { return chains_.windows().at(chain()); }

  /// The instances of the last 510 ms, in which one ends every 10 ms, are not counted yet.
  static constexpr std::uint64_t uncounted = 51;

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

/// Chains are followed half a second after they ended, so the last instances were not when another
/// timer begins to run.
TEST_F(MeasuredChainsTest, LoseNoInstanceWhenTheStructureChanges) {
  run(150);  // start-up is over after a second
  refresh();
  run(20);
  const std::uint64_t before = window().total();
  EXPECT_GT(before, 0U);
  run(1, true);
  refresh();
  EXPECT_EQ(window().total(), before + 1);
  EXPECT_EQ(window().missed(), before + 1);
  run(100, true);
  EXPECT_EQ(window().total(), before + 1 + 100);
}

TEST_F(MeasuredChainsTest, TellWhatAThreadRanLately) {
  run(150);
  refresh();
  const auto thread = events::ThreadIndex(0);
  const auto all = chains_.instances(thread, Instant{});
  ASSERT_GE(all.size(), 150U);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &execution::CallbackInstance::end));
  const auto late = chains_.instances(thread, all[all.size() - 3].end);
  ASSERT_EQ(late.size(), 2U);
  EXPECT_EQ(late.back().id, all.back().id);
  EXPECT_TRUE(chains_.instances(events::ThreadIndex(7), Instant{}).empty());
}

/// Instances of before are looked at again, and their callback is that of the newer timer by then.
TEST_F(MeasuredChainsTest, CountFromThePointsOfATimerThatCameBackWhenTheStructureChanges) {
  run(150);
  refresh();
  run(100);
  robot_.now += 5'000'000;
  program_ = robot_.program(2);
  node_ = robot_.node(program_, "node");
  raw_ = robot_.publisher(program_, node_, "/raw");
  tick_ = robot_.timer(program_, node_, 10ms);
  other_ = robot_.timer(program_, node_, 20ms, "Node::on_other_timer()");
  on_raw_ = robot_.subscription(program_, node_, "/raw");
  const std::uint64_t before = window().total();
  run(20, true);
  refresh();
  run(100, true);
  EXPECT_GT(window().total(), before + 50);
  EXPECT_LT(window().figures().max, 100ms);
}

/// The message is sent before the structure changes, and handled after.
TEST_F(MeasuredChainsTest, FollowAMessageThatIsOnItsWayWhenTheStructureChanges) {
  run(150);
  refresh();
  run(100);
  const std::uint64_t before = window().total();
  const std::int64_t begin = robot_.now;
  robot_.run(program_, tick_, 100, std::pair(raw_, begin + 1));
  robot_.run(program_, other_, 50);
  consume();
  refresh();
  robot_.now = begin + 300'000;
  robot_.handle(program_, on_raw_, begin + 1, 200);
  robot_.now = begin + 2'000'000;
  run(1);
  EXPECT_EQ(window().total(), before + uncounted + 1);
  EXPECT_GE(window().figures().max, 300ms);
}

/// The timer's callback has sent its message, and its thread gets no processor for two seconds.
TEST_F(MeasuredChainsTest, WaitForASenderThatEndsLongAfterItsMessageWasHandled) {
  run(150);
  refresh();
  run(100);
  const std::uint64_t before = window().total();
  const std::int64_t begin = robot_.now;
  robot_.start(program_, tick_);
  robot_.publish(program_, raw_, begin + 1);
  robot_.handle(robot_.worker(program_, 2), on_raw_, begin + 1, 200);
  robot_.now = begin + 1'000'000;
  consume();
  EXPECT_EQ(window().total(), before + uncounted);
  EXPECT_EQ(chains_.waiting(chain()), 1U);
  robot_.end(program_, tick_);
  consume();
  EXPECT_EQ(window().total(), before + uncounted + 1);
  EXPECT_EQ(chains_.waiting(chain()), 0U);
}

/// Two timers send what a third node joins, now one first and now the other. That the node
/// publishes shows which message completed a set, also to the measurement that begins anew.
TEST_F(MeasuredChainsTest, LoseNoSetWhenTheStructureChanges) {
  const std::uint64_t fusion = robot_.node(program_, "fusion");
  const test::Publisher other = robot_.publisher(program_, node_, "/other");
  const test::Subscription on_raw = robot_.subscription(program_, fusion, "/raw");
  const test::Subscription on_other = robot_.subscription(program_, fusion, "/other");
  const test::Publisher fused = robot_.publisher(program_, fusion, "/fused");
  const std::uint64_t sink = robot_.node(program_, "sink");
  const test::Subscription on_fused = robot_.subscription(program_, sink, "/fused");
  const std::uint64_t late = robot_.timer(program_, node_, 10ms);
  const auto run_joins = [&](int cycles, bool late_runs) {
    for (int i = 0; i < cycles; ++i) {
      const std::int64_t begin = robot_.now;
      robot_.run(program_, tick_, 100, std::pair(raw_, begin + 1));
      robot_.run(program_, other_, 100, std::pair(other, begin + 2));
      const bool raw_first = i % 2 == 0;
      robot_.handle(program_, raw_first ? on_raw : on_other, begin + (raw_first ? 1 : 2), 200);
      robot_.handle(program_, raw_first ? on_other : on_raw, begin + (raw_first ? 2 : 1), 200,
                    std::pair(fused, begin + 3));
      robot_.handle(program_, on_fused, begin + 3, 200);
      if (late_runs) robot_.run(program_, late, 50);
      robot_.now = begin + 10'000;
    }
    consume();
  };
  const auto sets = [&] {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < chains_.chains().size(); ++i) {
      if (chains_.chains()[i].callbacks.size() == 3) count += chains_.windows()[i].total();
    }
    return count;
  };
  run_joins(150, false);
  refresh();
  run_joins(20, false);
  const std::uint64_t before = sets();
  EXPECT_GT(before, 0U);
  run_joins(1, true);
  refresh();
  EXPECT_EQ(sets(), before + 1);
  run_joins(100, true);
  EXPECT_EQ(sets(), before + 1 + 100);
}

TEST_F(MeasuredChainsTest, NameAMessageWhoseSenderWasNotSeen) {
  run(150);
  refresh();
  const std::int64_t unknown = 77;
  robot_.handle(program_, on_raw_, unknown, 200);
  run(100);
  EXPECT_EQ(window().figures().sender_unknown, 1U);
  EXPECT_EQ(window().figures().sender_not_ended, 0U);
}

}  // namespace
}  // namespace takt::live
