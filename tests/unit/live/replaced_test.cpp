#include "replaced.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/goals/goals.hpp"
#include "takt/live/measured_chains.hpp"
#include "takt/live/monitor.hpp"
#include "takt/model/take_out.hpp"
#include "takt/model/validate.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::live {
namespace {

using namespace std::chrono_literals;

/// Programs that come and go: a sensor and a motor, each with a node of its name.
class ReplacedTest : public testing::Test {
 protected:
  struct Sensor {
    test::Program program;
    std::uint64_t tick;
    test::Publisher scan;
  };
  struct Motor {
    test::Program program;
    test::Subscription scan;
  };

  ReplacedTest() : interpreter_(robot_.threads()) {
    robot_.no_look_ahead();  // what is live has no end yet
    interpreter_.add(synthesizer_);
  }

  Sensor sensor(std::int64_t process) {
    test::Program program = robot_.program(process, "robot", "python");
    const std::uint64_t node = robot_.node(program, "sensor");
    const std::uint64_t tick = robot_.timer(program, node, 10ms);
    return {program, tick, robot_.publisher(program, node, "/scan")};
  }
  Motor motor(std::int64_t process) {
    test::Program program = robot_.program(process, "robot", "python");
    const std::uint64_t node = robot_.node(program, "motor");
    return {program, robot_.subscription(program, node, "/scan")};
  }
  void run(const Sensor& sensor, const Motor& motor, int cycles) {
    for (int i = 0; i < cycles; ++i) {
      const std::int64_t begin = robot_.now;
      robot_.run(sensor.program, sensor.tick, 100, std::pair(sensor.scan, begin + 1));
      robot_.handle(motor.program, motor.scan, begin + 1, 200);
      robot_.now = begin + 10'000;
    }
  }
  model::Model model() {
    robot_.drain(batch_);
    if (!batch_.events.empty()) {
      interpreter_.consume(batch_);
      pass_.last = batch_.events.back().time;
    }
    return synthesizer_.model(robot_, interpreter_.database(), pass_, {}).value();
  }
  [[nodiscard]] std::vector<execution::Executor> observed() const {
    return executors_of(synthesizer_, interpreter_.database().objects(), robot_.threads());
  }
  void end(const test::Program& program) {
    ended_.insert(robot_.threads()[program.thread].process);
  }
  /// The model without what was replaced, whose executors are `observed`.
  model::Model present(std::vector<execution::Executor>& executors) {
    model::Model found = model();
    executors = observed();
    const auto& objects = interpreter_.database().objects();
    const auto is_replaced = replaced(executors, objects, [this](events::ProcessIndex process) {
      return ended_.contains(process);
    });
    take_out_replaced(found, executors, is_replaced, objects);
    return found;
  }
  [[nodiscard]] std::int64_t process_of(const execution::Executor& executor) const {
    return robot_.threads()[executor.process].id;
  }

  const goals::Goal goal_{.name = "brake", .from = "/sensor", .to = "/motor", .via = {}};
  test::Scenario robot_;
  execution::Interpreter interpreter_;
  synthesis::Synthesizer synthesizer_;
  execution::Pass pass_;
  events::Batch batch_;
  std::set<events::ProcessIndex> ended_;
};

TEST_F(ReplacedTest, ARobotThatIsStartedAgainHasOneChainWithItsNames) {
  const Sensor sensor1 = sensor(1);
  const Motor motor1 = motor(2);
  run(sensor1, motor1, 200);
  const model::Model before = model();
  const auto ways = goals::find_ways(before, goal_);
  ASSERT_TRUE(ways) << ways.error().message;
  ASSERT_EQ(ways->counted.size(), 1U);
  end(sensor1.program);
  end(motor1.program);
  std::vector<execution::Executor> executors;
  EXPECT_EQ(present(executors).callbacks.size(), 2U) << "nothing has replaced them yet";

  const Sensor sensor2 = sensor(3);
  const Motor motor2 = motor(4);
  run(sensor2, motor2, 200);
  const auto doubled = goals::find_ways(model(), goal_);
  ASSERT_EQ(doubled->counted.size(), 2U) << "else there is nothing to mend";
  const model::Model after = present(executors);
  const auto found = goals::find_ways(after, goal_);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->counted.size(), 1U);
  EXPECT_TRUE(model::validate(after, "model"));
  ASSERT_EQ(after.callbacks.size(), 2U);
  for (const model::CallbackIndex callback : found->counted[0].callbacks) {
    EXPECT_EQ(after[callback].id, before[callback].id);
  }
  ASSERT_EQ(executors.size(), 2U);
  for (std::size_t e = 0; e < 2; ++e) {
    EXPECT_EQ(after.executors[e].id, before.executors[e].id);
    EXPECT_EQ(process_of(executors[e]), static_cast<std::int64_t>(3 + e));
  }
}

TEST_F(ReplacedTest, OfARobotThatHasEndedAgainAndAgainTheLastIsKept) {
  for (std::int64_t process = 1; process <= 5; process += 2) {
    const Sensor sensing = sensor(process);
    const Motor moving = motor(process + 1);
    run(sensing, moving, 200);
    end(sensing.program);
    end(moving.program);
  }
  std::vector<execution::Executor> executors;
  EXPECT_EQ(present(executors).callbacks.size(), 2U);
  ASSERT_EQ(executors.size(), 2U);
  EXPECT_EQ(process_of(executors[0]), 5);
  EXPECT_EQ(process_of(executors[1]), 6);
}

TEST_F(ReplacedTest, AProgramThatIsStartedAgainAloneTakesItsPlaceAmongTheOthers) {
  const Sensor sensor1 = sensor(1);
  const Motor motor1 = motor(2);
  run(sensor1, motor1, 200);
  end(sensor1.program);
  const Sensor again = sensor(3);
  run(again, motor1, 200);
  std::vector<execution::Executor> executors;
  const model::Model found = present(executors);
  ASSERT_EQ(found.callbacks.size(), 2U);
  ASSERT_EQ(found.edges.size(), 1U);
  EXPECT_TRUE(goals::find_ways(found, goal_));
  EXPECT_FALSE(found[found.edges[0].to].activation) << "its messages come from within the model";
  EXPECT_EQ(found.executors[found[found.edges[0].from].executor.value()].id, "python");
  EXPECT_EQ(found.executors[found[found.edges[0].to].executor.value()].id, "python#2");
}

/// The model has the names that it had, and other callbacks run under them.
TEST_F(ReplacedTest, ChainsOfARobotThatIsStartedAgainAreMeasuredAgain) {
  MeasuredChains chains;
  interpreter_.add(chains);
  const auto measure = [&](bool others) {
    std::vector<execution::Executor> executors;
    model::Model found = present(executors);
    found.chains.clear();
    model::Chain& chain = found.chains.emplace_back();
    chain.id = "brake";
    chain.callbacks = goals::find_ways(found, goal_).value().counted.front().callbacks;
    chains.replace(found, interpreter_.database(), others);
  };
  const Sensor sensor1 = sensor(1);
  const Motor motor1 = motor(2);
  run(sensor1, motor1, 200);
  measure(false);
  run(sensor1, motor1, 20);
  const Sensor sensor2 = sensor(3);
  const Motor motor2 = motor(4);
  run(sensor2, motor2, 20);
  end(sensor1.program);
  end(motor1.program);
  measure(true);
  const std::uint64_t before = chains.windows().at(0).total();
  run(sensor2, motor2, 200);
  measure(false);
  chains.follow_until(batch_.events.back().time - 500ms);
  EXPECT_GE(chains.windows().at(0).total(), before + 100);
}

/// What only they activated has no activation in a model.
TEST_F(ReplacedTest, WhatNothingActivatesAnyMoreIsTakenOutToo) {
  const Sensor sensor1 = sensor(1);
  const Motor motor1 = motor(2);
  run(sensor1, motor1, 200);
  model::Model found = model();
  model::take_out(found, {true, false});
  EXPECT_TRUE(found.callbacks.empty());
  EXPECT_TRUE(found.edges.empty());
  EXPECT_EQ(found.executors.size(), 1U);
  EXPECT_TRUE(model::validate(found, "model"));
}

/// A program that ran during start-up alone has no executor in the model; its threads are nobody
/// else's.
TEST_F(ReplacedTest, ExecutorsAreThoseOfTheModelInItsOrder) {
  const Sensor early = sensor(1);
  const Sensor late = sensor(2);
  const Motor motor1 = motor(3);
  robot_.run(early.program, early.tick, 100);
  run(late, motor1, 200);
  const model::Model found = model();
  const auto executors = observed();
  ASSERT_EQ(found.executors.size(), 2U);
  ASSERT_EQ(executors.size(), 2U);
  EXPECT_EQ(found.executors[0].id, "python");
  EXPECT_EQ(process_of(executors[0]), 2);
  EXPECT_EQ(process_of(executors[1]), 3);
}

/// A reservation for a part of the threads would guarantee nothing.
TEST_F(ReplacedTest, ExecutorsHaveThreadsThatWaitForTheirFirstCallback) {
  const Sensor sensor1 = sensor(1);
  const Motor motor1 = motor(2);
  const test::Program idle = robot_.worker(motor1.program, 3);
  for (const test::Program& thread : {motor1.program, idle}) {
    robot_.add(thread, tracepoints::ExecutorInit{.executor = "pool",
                                                 .kind = "multi_threaded",
                                                 .timers = "polled",
                                                 .threads = 2,
                                                 .policy = "other"});
  }
  run(sensor1, motor1, 200);
  ASSERT_EQ(model().executors.size(), 2U);
  const auto executors = observed();
  EXPECT_EQ(executors[0].threads, std::vector{sensor1.program.thread});
  EXPECT_EQ(executors[1].threads, (std::vector{motor1.program.thread, idle.thread}));
}

}  // namespace
}  // namespace takt::live
