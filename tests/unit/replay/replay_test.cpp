#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/model/json.hpp"
#include "takt/replay/compare.hpp"
#include "takt/replay/document.hpp"

namespace takt::replay {
namespace {

using nlohmann::json;
using test::EventType;

/// Three timers on one executor, of which `c` is the most urgent.
constexpr const char* model_text = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "e", "kind": "fixed_priority"}],
  "callbacks": [
    {"id": "a", "node": "/n", "executor": "e", "kind": "timer", "priority": 1, "registration": 0,
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
    {"id": "b", "node": "/n", "executor": "e", "kind": "timer", "priority": 2, "registration": 1,
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 6000000}},
    {"id": "c", "node": "/n", "executor": "e", "kind": "timer", "priority": 3, "registration": 2,
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 7000000}}]})";

/// Joins what two sources send, before a further subscription.
constexpr const char* joined_text = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "s"}, {"id": "e"}],
  "callbacks": [
    {"id": "left", "node": "/s", "executor": "s", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
    {"id": "right", "node": "/s", "executor": "s", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 6000000}},
    {"id": "join", "node": "/n", "executor": "e", "kind": "subscription",
     "execution_time": {"curve": [1]}},
    {"id": "after", "node": "/n", "executor": "e", "kind": "subscription", "topic": "/after",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}}],
  "edges": [{"from": "left", "to": "join", "topic": "/left"},
            {"from": "right", "to": "join", "topic": "/right"}],
  "joins": [{"callback": "join", "kind": "and", "inputs": ["left", "right"]}]})";

/// A recording made by hand. Times are in microseconds.
class ReplayTest : public testing::Test {
 protected:
  ReplayTest() {
    for (const int period : {5, 6, 7}) {
      timers_.push_back(scenario_.timer(program_, node_, std::chrono::milliseconds(period)));
    }
  }

  void announce(const std::string& kind, std::uint64_t threads = 1) {
    scenario_.add(program_, EventType::executor_init, {threads, 0, 0, 0, 0, 0},
                  {"e", kind, "polled", "other"});
  }

  /// The executor, which has completed so many instances, learns of one of each callback.
  void release(const std::string& callbacks, std::uint64_t completed = 0) {
    for (const char callback : callbacks) {
      const auto now = static_cast<std::uint64_t>(scenario_.now) * 1000;
      scenario_.add(program_, EventType::callback_release, {timer(callback), now, now, completed});
      ++scenario_.now;
    }
  }

  void start(char callback) {
    scenario_.start(program_, timer(callback));
    ++scenario_.now;
  }
  void end(char callback) {
    scenario_.now += 10;
    scenario_.end(program_, timer(callback));
    ++scenario_.now;
  }
  void run(const std::string& callbacks) {
    for (const char callback : callbacks) {
      start(callback);
      end(callback);
    }
  }

  /// The only executor of the takt/replay document.
  json replayed() {
    Recording recording(model_);
    execution::Interpreter interpreter(scenario_.threads());
    interpreter.add(recording);
    const auto pass = execution::run(scenario_, interpreter, {});
    const auto compared = compare(model_, interpreter.database().objects(), recording);
    EXPECT_TRUE(compared) << (compared ? "" : compared.error().message);
    if (!compared) return {};
    const json document =
        json::parse(to_json(model_, scenario_, interpreter.database(), pass, recording, *compared));
    EXPECT_EQ(document["format"], "takt/replay");
    EXPECT_EQ(document["version"], 1);
    EXPECT_EQ(document["executors"].size(), 1U);
    return document["executors"][0];
  }

  static void expect_agreement(const json& compared, int decisions) {
    EXPECT_EQ(compared["decisions"], decisions);
    EXPECT_EQ(compared["agreeing"], decisions);
    EXPECT_TRUE(compared["first_difference"].is_null());
    EXPECT_TRUE(compared["not_compared"].is_null());
  }

  test::Scenario scenario_;
  test::Program program_ = scenario_.program(1);
  std::uint64_t node_ = scenario_.node(program_, "n");
  model::Model model_ = model::parse(model_text, "test").value().model;

 private:
  [[nodiscard]] std::uint64_t timer(char callback) const {
    return timers_[static_cast<std::size_t>(callback - 'a')];
  }

  std::vector<std::uint64_t> timers_;
};

TEST_F(ReplayTest, ThePolicysOrderAgrees) {
  announce("fixed_priority");
  release("abc");
  run("cba");
  const json compared = replayed();
  EXPECT_EQ(compared["id"], "e");
  EXPECT_EQ(compared["kind"], "fixed_priority");
  expect_agreement(compared, 3);
}

TEST_F(ReplayTest, AnotherOrderIsShownFromItsFirstDecision) {
  announce("fixed_priority");
  release("abc");
  const std::int64_t second = scenario_.now + 12;
  run("cab");
  const json compared = replayed();
  EXPECT_EQ(compared["agreeing"], 1);
  EXPECT_EQ(
      compared["first_difference"],
      (json{{"decision", 1}, {"time", second * 1000}, {"recorded", "a"}, {"simulated", "b"}}));
}

TEST_F(ReplayTest, WhatComesWhileACallbackRunsIsKnownToTheNextDecision) {
  announce("fixed_priority");
  release("ab");
  start('b');
  release("c");
  end('b');
  // The executor completed b before it learnt of the second one.
  release("b", 1);
  run("cba");
  expect_agreement(replayed(), 4);
}

TEST_F(ReplayTest, TheExecutorIsTheOneThatAnnouncedItself) {
  announce("events");
  release("abc");
  run("abc");
  const json compared = replayed();
  EXPECT_EQ(compared["kind"], "events");
  expect_agreement(compared, 3);
}

TEST_F(ReplayTest, InstancesWithoutReleaseAreCountedAndLeftOut) {
  announce("fixed_priority");
  run("a");
  release("bc", 1);
  run("cb");
  const json compared = replayed();
  EXPECT_EQ(compared["without_release"], 1);
  expect_agreement(compared, 2);
}

TEST_F(ReplayTest, ATimerThatWasStoppedWhenItWasReadyIsWithdrawn) {
  announce("single_threaded");
  release("abc");
  run("ab");
  const json compared = replayed();
  EXPECT_EQ(compared["withdrawn"], 1);
  expect_agreement(compared, 2);
}

/// A slot of 100 us for each callback, in their order.
class ReplayOfATableTest : public ReplayTest {
 protected:
  ReplayOfATableTest() {
    announce("table_driven");
    model::SlotTable& table = model_.executors[0].table.emplace();
    table.cycle = std::chrono::microseconds(300);
    for (std::size_t i = 0; i < 3; ++i) {
      const Duration start = std::chrono::microseconds(100 * i);
      table.entries.push_back(
          {{start, start + std::chrono::microseconds(100)}, model::CallbackIndex(i)});
    }
    scenario_.now = 3000;
  }
};

/// Also long after it, as if the thread had lost its processor between decision and start.
TEST_F(ReplayOfATableTest, AStartAfterASlotThatFoundTheExecutorIdleWasDecidedWithinIt) {
  release("ab");
  scenario_.now = 3102;
  run("a");
  release("a");
  scenario_.now = 3150;
  run("b");
  scenario_.now = 3550;
  run("a");
  const json compared = replayed();
  EXPECT_EQ(compared["at_end_of_slot"], 2);
  expect_agreement(compared, 3);
}

TEST_F(ReplayOfATableTest, AStartAfterASlotThatFoundTheExecutorBusyIsADifference) {
  release("abc");
  start('a');
  scenario_.now = 3250;
  end('a');
  run("b");
  const json compared = replayed();
  EXPECT_EQ(compared["at_end_of_slot"], 0);
  EXPECT_EQ(compared["first_difference"]["decision"], 1);
}

TEST_F(ReplayOfATableTest, AStartOfWhatWasReleasedAfterItsSlotIsADifference) {
  scenario_.now = 3150;
  release("ab");
  run("a");
  run("b");
  EXPECT_EQ(replayed()["first_difference"]["decision"], 0);
}

/// A polling point admits a message of each input, though both are one callback of the model.
TEST_F(ReplayTest, InputsOfAJoinHavePlacesOfTheirOwnInAWaitSet) {
  model_ = model::parse(joined_text, "test").value().model;
  const auto left = scenario_.subscription(program_, node_, "/left");
  const auto right = scenario_.subscription(program_, node_, "/right");
  const auto after = scenario_.subscription(program_, node_, "/after");
  announce("single_threaded");
  const auto release = [&](std::uint64_t callback) {
    const auto now = static_cast<std::uint64_t>(scenario_.now) * 1000;
    scenario_.add(program_, EventType::callback_release, {callback, now, now, 0});
    ++scenario_.now;
  };
  const auto callbacks = {left.callback, right.callback, after.callback};
  for (const std::uint64_t callback : callbacks) release(callback);
  for (const std::uint64_t callback : callbacks) {
    scenario_.start(program_, callback);
    scenario_.now += 10;
    scenario_.end(program_, callback);
    ++scenario_.now;
  }
  expect_agreement(replayed(), 3);
}

TEST_F(ReplayTest, SeveralThreadsAreNotCompared) {
  announce("multi_threaded", 2);
  release("a");
  run("a");
  const json compared = replayed();
  EXPECT_EQ(compared["decisions"], 0);
  EXPECT_EQ(compared["not_compared"],
            "2 threads: the order of starts is not that of decisions; record it with one");
}

TEST_F(ReplayTest, AnExecutorThatAnnouncesNoThreadIsNotCompared) {
  announce("fixed_priority", 0);
  release("a");
  run("a");
  const json compared = replayed();
  EXPECT_EQ(compared["decisions"], 0);
  EXPECT_EQ(compared["not_compared"], "the recording says that it has 0 threads");
}

TEST_F(ReplayTest, ExecutorsThatTellOfNoReleasesAreNotCompared) {
  announce("fixed_priority");
  run("ab");
  EXPECT_EQ(replayed()["not_compared"],
            "the recording has no takt:callback_release of it; record takt run with all events");
}

}  // namespace
}  // namespace takt::replay
