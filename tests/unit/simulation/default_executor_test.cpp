#include <gmock/gmock.h>

#include <algorithm>

#include "models.hpp"

namespace takt::simulation {
namespace {

using enum model::ExecutorKind;
using testing::ElementsAre;

/// The validation scenario of ros-llama S-1.3: order of the callbacks, and polling points in ms.
struct Scenario {
  std::string order;
  std::vector<std::int64_t> polling_points;
};

Scenario validation_scenario(TimerHandling timers) {
  Models models;
  models.executor("e", single_threaded);
  models.model.executors[0].timers = timers;
  Options options;
  const auto add = [&](const char* id, model::CallbackKind kind,
                       std::vector<Duration> activations) {
    models.subscription(id, milliseconds(500), {}, kind);
    // The activations are listed below; the model wants some.
    models[id].activation = model::PeriodicActivation{milliseconds(1), milliseconds(100)};
    options.release_times[id] = std::move(activations);
  };
  using enum model::CallbackKind;
  const Duration t0{}, t2 = milliseconds(1500);
  add("H", subscription, {t0, t0, t2});
  add("M", subscription, {t0, t0});
  add("L", subscription, {t0, t0});
  add("SH", service, {t0, t0});
  add("SM", service, {t2, t2});
  add("SL", service, {t0, t0});
  add("t0", timer, {milliseconds(200)});
  add("t1", timer, {milliseconds(200)});
  add("t2", timer, {milliseconds(2300)});
  add("t3", timer, {milliseconds(2300)});
  const Simulation simulation = models.run(milliseconds(20'000), options);
  Scenario scenario;
  for (const TimelineEntry& entry : simulation.timeline) {
    scenario.order += models.model[entry.callback].id + " ";
  }
  for (const PollingPoint& point : simulation.polling_points) {
    scenario.polling_points.push_back(point.when.time_since_epoch() / milliseconds(1));
  }
  return scenario;
}

TEST(DefaultExecutor, RunsTheValidationScenarioAsDashingDid) {
  const Scenario scenario = validation_scenario(TimerHandling::privileged);
  EXPECT_EQ(scenario.order, "H t0 t1 M L t2 t3 SH SL H M L SH SM SL H SM ");
  EXPECT_THAT(scenario.polling_points, ElementsAre(0, 4500, 7500, 8500));
}

TEST(DefaultExecutor, RunsTheValidationScenarioAsFoxyDoes) {
  const Scenario scenario = validation_scenario(TimerHandling::polled);
  EXPECT_EQ(scenario.order, "H M L SH SL t0 t1 t2 t3 H M L SH SM SL H SM ");
  EXPECT_THAT(scenario.polling_points, ElementsAre(0, 2500, 7500, 8500));
}

/// component-cps 3.3: tau1 = (3, 10), tau2 = (10, 30), tau3 = (10, 30).
Models running_example(model::ExecutorKind kind) {
  Models models;
  models.executor("e", kind);
  models.timer("1", milliseconds(10), milliseconds(3));
  models.timer("2", milliseconds(30), milliseconds(10));
  models.timer("3", milliseconds(30), milliseconds(10));
  return models;
}

TEST(DefaultExecutor, LosesAnExpiryThatAWindowOutlasts) {  // A-29, Fig. 3.2b
  const Models models = running_example(single_threaded);
  EXPECT_EQ(models.schedule(milliseconds(30)), "1 [0,3) 2 [3,13) 3 [13,23) 1 [23,26)");
  const Simulation simulation = models.run(milliseconds(30));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(16)) << "due at 10";
  EXPECT_EQ(simulation.callbacks[0].skipped, 1) << "due at 20";
}

TEST(EventsExecutors, LoseNoExpiry) {  // A-29, Fig. 3.2c and d
  EXPECT_EQ(running_example(events).schedule(milliseconds(30)),
            "1 [0,3) 2 [3,13) 3 [13,23) 1 [23,26) 1 [26,29)");
  EXPECT_EQ(running_example(fixed_priority).schedule(milliseconds(30)),
            "1 [0,3) 2 [3,13) 1 [13,16) 3 [16,26) 1 [26,29)");
}

TEST(DefaultExecutor, KeepsTheGridOfATimerThatIsCalledLate) {  // B-5
  // "long" holds the executor from 0 (before the timer's first expiry at 30) to 52 or 34.
  for (const auto& [cost, next] : {std::pair(52, 60), std::pair(34, 40)}) {
    Models models;
    models.executor("e", single_threaded);
    models.timer("t", milliseconds(10), milliseconds(1));
    models.timer("long", milliseconds(1000), milliseconds(cost));
    Options options;
    options.offsets["t"] = milliseconds(30);
    const Simulation simulation = models.run(milliseconds(next + 5), options);
    std::vector<std::int64_t> activations;
    for (const TimelineEntry& entry : simulation.timeline) {
      if (entry.callback == models.index("t")) {
        activations.push_back(entry.activation.time_since_epoch() / milliseconds(1));
      }
    }
    EXPECT_THAT(activations, ElementsAre(30, next));
    EXPECT_EQ(simulation.callbacks[0].skipped, (next - 40) / 10);
  }
}

TEST(MultiThreadedExecutor, RunsCallbacksOfOneNodeOneAfterTheOther) {
  Models models;
  models.executor("e", multi_threaded);
  models.model.executors[0].threads = 2;
  models.timer("a", milliseconds(100), milliseconds(10));
  models.timer("b", milliseconds(100), milliseconds(10));
  models.timer("c", milliseconds(100), milliseconds(15));
  models["b"].node = models["a"].node;
  EXPECT_EQ(models.schedule(milliseconds(50)), "a [0,10) c [0,15) b [10,20)");
}

TEST(MultiThreadedExecutor, LetsReentrantCallbacksRunAtOnce) {
  Models models;
  models.executor("e", multi_threaded);
  models.model.executors[0].threads = 2;
  models.timer("a", milliseconds(100), milliseconds(10));
  models.timer("b", milliseconds(100), milliseconds(10));
  models["b"].node = models["a"].node;
  models["b"].callback_group = "reentrant";
  EXPECT_EQ(models.schedule(milliseconds(50)), "a [0,10) b [0,10)");
}

TEST(MultiThreadedExecutor, DoesNotStarveAGroupThatIsBusyAtPollingPoints) {
  // While a runs, b of its group is not looked at; the other thread runs c again and again.
  Models models;
  models.executor("e", multi_threaded);
  models.model.executors[0].threads = 2;
  models.timer("c", milliseconds(2), milliseconds(1));
  models.timer("a", milliseconds(20), milliseconds(9));
  models.timer("b", milliseconds(20), milliseconds(9));
  models["b"].node = models["a"].node;
  const Simulation simulation = models.run(milliseconds(1000));
  EXPECT_EQ(simulation.callbacks[2].response_time.count(), 50);
  EXPECT_EQ(simulation.callbacks[2].response_time.max(), milliseconds(18));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(1));
}

}  // namespace
}  // namespace takt::simulation
