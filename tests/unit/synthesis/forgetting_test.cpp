#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/validate.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {
namespace {

using namespace std::chrono_literals;

/// A callback of messages from outside, beside a timer that runs seldom.
class ForgettingTest : public testing::Test {
 protected:
  ForgettingTest() : interpreter_(robot_.threads()) { interpreter_.add(synthesizer_); }

  /// So many messages, so far apart (µs), each handled for so long (µs).
  void handle(int count, std::int64_t length, std::int64_t distance = 10'000) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = robot_.now;
      robot_.handle(program_, work_, ++stamp_, length);
      robot_.now = begin + distance;
    }
  }

  void consume() {
    robot_.drain(batch_);
    interpreter_.consume(batch_);
    if (!batch_.events.empty()) pass_.last = batch_.events.back().time;
  }
  void forget() {
    consume();
    synthesizer_.forget();
  }
  model::Model model() {
    consume();
    return synthesizer_.model(robot_, interpreter_.database(), pass_, {}).value();
  }
  static const model::Callback& work(const model::Model& model) {
    return *std::ranges::find(model.callbacks, "/node:/work", &model::Callback::id);
  }
  static Duration longest(const model::Model& model) { return work(model).execution_time.front(); }
  static Duration shortest_distance(const model::Model& model) {
    return std::get<model::MinDistanceActivation>(*work(model).activation).values.at(1);
  }

  test::Scenario robot_;
  test::Program program_ = robot_.program(1);
  std::uint64_t node_ = robot_.node(program_, "node");
  std::uint64_t tick_ = robot_.timer(program_, node_, 1s);
  test::Publisher sends_ = robot_.publisher(program_, node_, "/work");
  test::Subscription work_ = robot_.subscription(program_, node_, "/work");
  execution::Interpreter interpreter_;
  Synthesizer synthesizer_{{.forgets = true}};
  execution::Pass pass_;
  events::Batch batch_;
  std::int64_t stamp_ = 0;
};

/// One call begins to forget, the next one forgets what came before it.
TEST_F(ForgettingTest, ASurgeIsForgottenByTheCallAfterItsEnd) {
  robot_.now += 2'000'000;
  handle(100, 200);
  forget();
  handle(20, 1500, 2'000);
  EXPECT_EQ(longest(model()), 1500us);
  EXPECT_EQ(shortest_distance(model()), 2ms);
  forget();
  handle(20, 300);
  EXPECT_EQ(longest(model()), 1500us);
  forget();
  EXPECT_EQ(longest(model()), 300us);
  EXPECT_EQ(shortest_distance(model()), 10ms);
  // What follows counts on.
  handle(1, 700);
  EXPECT_EQ(longest(model()), 700us);
}

TEST_F(ForgettingTest, WhatWasSeenSeldomSinceStays) {
  robot_.now += 2'000'000;
  robot_.run(program_, tick_, 900);
  handle(100, 1500);
  forget();
  handle(9, 300);
  forget();
  EXPECT_EQ(longest(model()), 1500us);
  handle(1, 300);
  forget();
  EXPECT_EQ(longest(model()), 300us);
  const model::Model found = model();
  EXPECT_EQ(found.callbacks.size(), 2U) << "the timer has run once";
}

/// Its messages came from outside at first, and then from the timer.
TEST_F(ForgettingTest, AnotherSenderLeavesAValidModel) {
  robot_.now += 2'000'000;
  handle(100, 200);
  forget();
  for (int i = 0; i < 50; ++i) {
    const std::int64_t begin = robot_.now;
    robot_.run(program_, tick_, 100, std::pair(sends_, ++stamp_));
    robot_.handle(program_, work_, stamp_, 200);
    robot_.now = begin + 1'000'000;
    if (i % 20 == 19) forget();
  }
  const model::Model found = model();
  EXPECT_TRUE(model::validate(found, "model"));
  EXPECT_TRUE(work(found).activation) << "messages may come from outside again";
}

/// Few messages from outside say nothing of how often more may come, however often others come.
TEST_F(ForgettingTest, ActivationsFromOutsideThatBecameFewStay) {
  robot_.now += 2'000'000;
  handle(100, 200);
  forget();
  for (int i = 0; i < 50; ++i) {
    const std::int64_t begin = robot_.now;
    robot_.run(program_, tick_, 100, std::pair(sends_, ++stamp_));
    robot_.handle(program_, work_, stamp_, 200);
    if (i % 10 == 0) handle(1, 200, 500'000);
    robot_.now = begin + 1'000'000;
  }
  forget();
  EXPECT_EQ(shortest_distance(model()), 10ms);
}

}  // namespace
}  // namespace takt::synthesis
