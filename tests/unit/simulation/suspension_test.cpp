#include <gtest/gtest.h>

#include "models.hpp"

namespace takt::simulation {
namespace {

using enum model::ExecutorKind;

/// A timer of 1 ms that sleeps for 40 ms in all, three times, beside one of 2 ms.
Models sleeper(model::Supply supply) {
  Models models;
  models.executor("e", single_threaded, supply);
  models.timer("a", milliseconds(100), milliseconds(1));
  models.timer("b", milliseconds(200), milliseconds(2));
  models.model.callbacks[0].suspension = model::Suspension{.curve = {milliseconds(40)}, .times = 3};
  return models;
}

TEST(Suspension, OccupiesTheExecutor) {
  const Simulation simulation = sleeper(model::DedicatedSupply{}).run(milliseconds(400));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(41));
  EXPECT_EQ(simulation.callbacks[1].response_time.max(), milliseconds(43));
}

/// It has 1 ms in each 10: with the server of SCHED_DEADLINE all of them at once if nobody else
/// needs the processor, and as late as may be in the periods of 10 ms otherwise.
TEST(Suspension, UsesNoBudget) {
  const Models models =
      sleeper(model::ReservationSupply{milliseconds(1), milliseconds(10), milliseconds(10)});
  EXPECT_EQ(models.run(milliseconds(99)).callbacks[0].response_time.max(), milliseconds(41));
  Options options;
  options.reservation = ReservationModel::latest;
  const Simulation late = models.run(milliseconds(99), options);
  EXPECT_GT(late.callbacks[0].response_time.max(), milliseconds(41 + 9));
}

/// Another executor computes on the same core while it sleeps.
TEST(Suspension, LeavesTheCoreToOthers) {
  Models models = sleeper(model::DedicatedSupply{});
  models.executor("f", single_threaded).timer("c", milliseconds(400), milliseconds(30));
  Options options;
  options.cores = 1;
  options.threads["e"] = {.policy = ThreadPolicy::fifo, .priority = 2, .cpu = {}};
  options.threads["f"] = {.policy = ThreadPolicy::fifo, .priority = 1, .cpu = {}};
  const Simulation simulation = models.run(milliseconds(400), options);
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(41));
  // What the other runs after its last sleep may come later.
  EXPECT_GT(simulation.callbacks[2].response_time.max(), milliseconds(30));
  EXPECT_LE(simulation.callbacks[2].response_time.max(), milliseconds(31));
}

/// How often, and for how long, each instance suspends itself.
class Counter : public Observer {
 public:
  struct Instance {
    std::int64_t times = 0;
    Duration length{};
  };
  std::vector<Instance> instances;

  MessageTag on_outside(Instant, model::CallbackIndex) override { return 0; }
  void on_release(model::CallbackIndex, Instant, Instant) override {}
  void on_input(std::size_t, MessageTag, bool) override {}
  void on_decision(Instant, ThreadId, bool, bool) override {}
  void on_start(Instant, ThreadId, const StartedInstance& instance) override {
    if (instance.callback != model::CallbackIndex{0}) return;
    instances.push_back({instance.suspensions, instance.suspended});
  }
  MessageTag on_send(Instant, ThreadId, std::size_t) override { return 0; }
  void on_end(Instant, ThreadId) override {}
};

/// No n instances in a row suspend themselves more often than the curve says; in the worst case,
/// some do as often.
TEST(Suspension, IsAsOftenAsTheCurveOfTimesSays) {
  for (const ExecutionModel execution : {ExecutionModel::worst_case, ExecutionModel::random}) {
    Models models = sleeper(model::DedicatedSupply{});
    const std::vector<std::int64_t> curve{3, 4, 4, 6};
    models.model.callbacks[0].suspension->set_times(curve);
    Counter counter;
    Options options;
    options.execution = execution;
    options.duration = milliseconds(50'000);
    ASSERT_TRUE(simulate(models.model, options, {}, &counter));
    ASSERT_GE(counter.instances.size(), 400U);
    for (std::size_t length = 1; length <= curve.size(); ++length) {
      std::int64_t most = 0;
      for (std::size_t i = 0; i + length <= counter.instances.size(); ++i) {
        std::int64_t times = 0;
        for (std::size_t n = i; n < i + length; ++n) times += counter.instances[n].times;
        most = std::max(most, times);
      }
      EXPECT_LE(most, curve[length - 1]) << length << " in a row";
      if (execution == ExecutionModel::worst_case) {
        EXPECT_EQ(most, curve[length - 1]) << length << " in a row";
      }
    }
    for (const Counter::Instance& each : counter.instances) {
      EXPECT_EQ(each.times == 0, each.length == Duration{0});
    }
  }
}

TEST(Suspension, IsWithinTheCurveAndOftenEnough) {
  Options options;
  options.execution = ExecutionModel::random;
  options.shortest = 0;
  const Simulation simulation =
      sleeper(model::DedicatedSupply{}).run(milliseconds(10'000), options);
  EXPECT_LE(simulation.callbacks[0].response_time.max(), milliseconds(41 + 2));
  EXPECT_GT(simulation.callbacks[0].response_time.max(), milliseconds(35));
  EXPECT_LT(simulation.callbacks[0].response_time.min(), milliseconds(10));
}

}  // namespace
}  // namespace takt::simulation
