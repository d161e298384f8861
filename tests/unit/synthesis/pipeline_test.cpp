#include "pipeline.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::EventType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

TEST_F(Pipeline, BecomesExecutorsCallbacksEdgesAndAChain) {
  for (std::int64_t i = 0; i < 3; ++i) {
    flow(10'000 * i, i + 1);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.executors, SizeIs(2));
  EXPECT_EQ(model.executors[0].id, "first");
  EXPECT_EQ(model.executors[1].id, "second");
  ASSERT_THAT(model.callbacks, SizeIs(3));
  EXPECT_EQ(model.callbacks[0].id, "/sensor:timer-10ms");
  EXPECT_EQ(model.callbacks[0].name, "S::tick");
  EXPECT_EQ(model.callbacks[0].activation,
            model::Activation(model::PeriodicActivation{std::chrono::milliseconds(10), {}}));
  EXPECT_EQ(model.callbacks[1].id, "/filter:/raw");
  EXPECT_EQ(model.callbacks[1].activation, std::nullopt);
  EXPECT_EQ(model.callbacks[1].queue_depth, 5);
  EXPECT_THAT(model.callbacks[1].execution_time,
              ElementsAre(Duration(203'000), Duration(405'000), Duration(606'000)));
  EXPECT_EQ(model.callbacks[1].registration, 0);
  EXPECT_EQ(model.callbacks[2].registration, 1);
  EXPECT_THAT(edges_of(model),
              ElementsAre("/sensor:timer-10ms -> /filter:/raw", "/filter:/raw -> /control:/clean"));
  ASSERT_THAT(model.chains, SizeIs(1));
  EXPECT_EQ(model.chains[0].id, "/sensor->/control");
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/sensor:timer-10ms", "/filter:/raw", "/control:/clean"));
  EXPECT_EQ(model.chains[0].goal, std::nullopt);
}

TEST_F(Pipeline, ProvenanceSaysWhereItComesFrom) {
  flow(0, 1);
  flow(1'200'000, 2);
  scenario.lose().discarded_events = 5;
  const json provenance = json::parse(model_of(scenario).provenance);
  EXPECT_THAT(provenance["tool"].get<std::string>(), HasSubstr("takt "));
  EXPECT_EQ(provenance["inputs"][0]["path"], "scenario");
  EXPECT_EQ(provenance["hosts"], json{"h"});
  EXPECT_EQ(provenance["execution_time"], "wall_time");
  EXPECT_EQ(provenance["losses"]["discarded"], 5);
  EXPECT_EQ(provenance["start_up"], 1'000'000'000);
  EXPECT_EQ(provenance["observed"]["/control:/clean"],
            json({{"count", 1}, {"min", 300'000}, {"mean", 300'000}, {"max", 300'000}}));
}

TEST_F(Pipeline, ProcessorTimeIsPreferred) {
  scenario.take(second, on_raw, 1);
  scenario.start(second, on_raw.callback);
  scenario.add(second, EventType::thread_cpu_time, {1000});
  scenario.now = 900;
  scenario.add(second, EventType::thread_cpu_time, {8000});
  scenario.end(second, on_raw.callback);
  const Model model = model_of(scenario);
  EXPECT_THAT(model.callbacks[0].execution_time, ElementsAre(Duration(7000)));
  EXPECT_EQ(json::parse(model.provenance)["execution_time"], "thread_cpu_time");
}

/// One run among others that waits three times is one of three waits, however many are in a row.
TEST_F(Pipeline, SuspensionsAreCountedOverRunsInARow) {
  std::int64_t waits = 1;
  for (const std::int64_t more : {0, 3, 0, 0, 1}) {
    scenario.start(first, timer);
    scenario.add(first, tracepoints::ThreadCpuTime{.cpu_time = 1'000, .waits = waits});
    scenario.now += 100;
    waits += more;
    scenario.add(first, tracepoints::ThreadCpuTime{.cpu_time = 41'000, .waits = waits});
    scenario.end(first, timer);
  }
  const Model model = model_of(scenario);
  const auto& suspension = model.callbacks.at(0).suspension;
  ASSERT_TRUE(suspension);
  EXPECT_THAT(suspension->times_curve(), ElementsAre(3, 3, 3, 4, 4));
  const Duration slept = std::chrono::microseconds(60);
  EXPECT_THAT(suspension->curve, ElementsAre(slept, slept, slept, 2 * slept, 2 * slept));
}

TEST_F(Pipeline, ASleepThatComesOnceIsAnOutlier) {
  for (std::int64_t i = 0; i < 5; ++i) {
    scenario.start(first, timer);
    scenario.add(first, tracepoints::ThreadCpuTime{.cpu_time = 1'000, .waits = 1});
    scenario.now += i == 2 ? 5'000 : 100;
    scenario.add(first, tracepoints::ThreadCpuTime{.cpu_time = 101'000, .waits = i == 2 ? 2 : 1});
    scenario.end(first, timer);
  }
  const json outliers = json::parse(model_of(scenario).provenance)["outliers"];
  ASSERT_EQ(outliers.size(), 1);
  EXPECT_EQ(outliers[0]["of"], "suspension");
  EXPECT_EQ(outliers[0]["id"], "/sensor:timer-10ms");
  EXPECT_EQ(outliers[0]["value"], 4'900'000);
  EXPECT_EQ(outliers[0]["without"], json({0, 0}));
}

TEST_F(Pipeline, CallbacksThatRanOnlyDuringStartUpAreLeftOut) {
  const auto once = scenario.timer(first, sensor, std::chrono::seconds(100));
  scenario.run(first, once, 50'000);
  flow(1'100'000, 1);
  const Model model = model_of(scenario);
  EXPECT_THAT(model.callbacks, SizeIs(3));
  EXPECT_EQ(json::parse(model.provenance)["left_out"], json{"/sensor:timer-100s"});
}

/// A timer that is made during the recording.
class TimerPhases : public Pipeline {
 protected:
  Duration shift{};  // of all clocks

  std::optional<Duration> phase() {
    scenario.now = 23'456;
    const auto slow = scenario.timer(first, sensor, std::chrono::milliseconds(20));
    for (std::int64_t i = 2; i < 5; ++i) {
      scenario.now = (20'000 * i) + 3'700;
      scenario.run(first, slow, 100);
    }
    scenario.skew(first, shift, 0);
    scenario.skew(second, shift, 0);
    const Model model = model_of(scenario, {}, {.timer_phases = true});
    return std::get<model::PeriodicActivation>(model.callbacks.at(0).activation.value()).phase;
  }
};

TEST_F(TimerPhases, AreThoseOfTheRun) { EXPECT_EQ(phase(), std::chrono::microseconds(3'456)); }

TEST_F(TimerPhases, AreNotNegativeWhereTheHostBootedBeforeTheFirstOne) {
  shift = -std::chrono::seconds(1);
  EXPECT_EQ(phase(), std::chrono::microseconds(3'456));
}

TEST_F(TimerPhases, AreNotKnownOfWhatMayHaveBeenMadeBefore) {
  scenario.add(first, EventType::objects_recovered, {1}, {""});
  EXPECT_EQ(phase(), std::nullopt);
}

TEST_F(Pipeline, MessagesFromOutsideGiveAMeasuredActivation) {
  scenario.leave_out(first);
  for (const std::int64_t time : {0, 1'000, 3'000}) {
    scenario.now = time;
    scenario.publish(first, raw, time + 1);  // outside of all callbacks
    scenario.handle(second, on_raw, time + 1, 10);
  }
  scenario.now = 10'010;
  scenario.end(first, 0xbad);  // the trace's last event
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(1));
  const auto& activation = std::get<model::MinDistanceActivation>(*model.callbacks[0].activation);
  EXPECT_THAT(activation.values,
              ElementsAre(Duration(0), std::chrono::milliseconds(1), std::chrono::milliseconds(3),
                          std::chrono::microseconds(10'010)));
}

TEST_F(Pipeline, F12_ADriverIsAnEventSourceWithMeasuredTimes) {
  // ros-llama, fact 12: data every 200 ms, of which the driver makes messages in 10 or 150 ms.
  std::int64_t stamp = 0;
  for (const std::int64_t time : {10, 350, 550, 610, 950}) {
    scenario.now = 1'000 * time;
    scenario.publish(first, raw, ++stamp);
    scenario.handle(second, on_raw, stamp, 10);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(2));
  const model::Callback& driver = model.callbacks[1];
  EXPECT_EQ(driver.id, "/sensor:/raw:source");
  EXPECT_EQ(driver.kind, model::CallbackKind::event_source);
  EXPECT_EQ(driver.node, "/sensor");
  const model::Executor& thread = model[driver.executor];
  EXPECT_EQ(thread.kind, model::ExecutorKind::event_source);
  EXPECT_EQ(thread.id, "first source");
  EXPECT_EQ(thread.unclassifiable, std::nullopt);
  const auto& activation = std::get<model::MinDistanceActivation>(*driver.activation);
  EXPECT_EQ(activation.values[1], std::chrono::milliseconds(60));
  EXPECT_THAT(edges_of(model), ElementsAre("/sensor:/raw:source -> /filter:/raw"));
  EXPECT_THAT(model.chains, SizeIs(1));
  const json told = json::parse(model.provenance)["threads"];
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0]["class"], "data_driven");
  EXPECT_EQ(told[0]["callbacks"], json{"/sensor:/raw:source"});
}

TEST_F(Pipeline, ARateIsAPeriodicEventSource) {
  const auto sleep = [&] { scenario.add(first, tracepoints::RateSleep{.period = 20'000'000}); };
  sleep();
  for (std::int64_t i = 1; i < 5; ++i) {
    scenario.now = 20'000 * i;
    scenario.add(first, tracepoints::RateWakeup{});
    scenario.now += 300;
    scenario.publish(first, raw, i);
    scenario.handle(second, on_raw, i, 10);
    sleep();
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(2));
  EXPECT_EQ(model.callbacks[1].id, "/sensor:rate-20ms");
  EXPECT_EQ(model.callbacks[1].activation,
            model::Activation(model::PeriodicActivation{std::chrono::milliseconds(20), {}}));
  EXPECT_THAT(edges_of(model), ElementsAre("/sensor:rate-20ms -> /filter:/raw"));
}

TEST_F(Pipeline, NothingIsGuaranteedOfUnclassifiableThreads) {
  for (std::int64_t i = 1; i < 5; ++i) {
    scenario.now = 10'000 * i;
    scenario.add(first, tracepoints::RclcppExecutorWaitForWork{.timeout = 0});
    scenario.add(first, tracepoints::RclcppExecutorGetNextReady{});
    scenario.run(first, timer, 100);
    scenario.publish(first, raw, i);
    scenario.handle(second, on_raw, i, 10);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.executors, SizeIs(3));
  EXPECT_THAT(*model.executors[0].unclassifiable, HasSubstr("spins for limited times"));
  EXPECT_EQ(model.executors[1].unclassifiable, std::nullopt);
  EXPECT_EQ(model.executors[2].kind, model::ExecutorKind::event_source);
  EXPECT_NE(model.executors[2].unclassifiable, std::nullopt);
  EXPECT_THAT(edges_of(model), ElementsAre("/sensor:/raw:sender -> /filter:/raw"));
  const json provenance = json::parse(model.provenance);
  ASSERT_THAT(provenance["threads"], SizeIs(1));
  EXPECT_EQ(provenance["threads"][0]["class"], "unclassifiable");
  EXPECT_EQ(provenance["threads"][0]["callbacks"],
            (json{"/sensor:/raw:sender", "/sensor:timer-10ms"}));
  ASSERT_THAT(provenance["warnings"], SizeIs(1));
  EXPECT_THAT(provenance["warnings"][0].get<std::string>(),
              HasSubstr("nothing is bounded that depends on"));
}

TEST_F(Pipeline, AWaitableIsActivatedByWhatTriggersIt) {
  const std::uint64_t log = second.handle();
  scenario.add(second, tracepoints::CallbackInit{
                           .callback = log, .node_handle = control, .kind = "waitable"});
  for (std::int64_t i = 1; i < 12; ++i) {
    scenario.now = 10'000 * i;
    scenario.run(first, timer, 100, std::pair(raw, i));
    scenario.take(second, on_raw, i);
    scenario.start(second, on_raw.callback);
    scenario.add(second, tracepoints::WaitableTriggered{.callback = log});
    scenario.now += 50;
    scenario.end(second, on_raw.callback);
    scenario.run(second, log, 20);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(3));
  EXPECT_EQ(model.callbacks[2].id, "/control:waitable");
  EXPECT_EQ(model.callbacks[2].kind, model::CallbackKind::waitable);
  EXPECT_EQ(model.callbacks[2].activation, std::nullopt);
  EXPECT_THAT(edges_of(model), ElementsAre("/sensor:timer-10ms -> /filter:/raw",
                                           "/filter:/raw -> /control:waitable"));
  EXPECT_EQ(model.edges[1].topic, std::nullopt);
}

TEST_F(Pipeline, AnnouncedReservationsBecomeSupplies) {
  scenario.add(second, EventType::executor_init, {1, 2'000'000, 5'000'000, 6'000'000, 0, 1},
               {"brain", "single_threaded", "polled", "deadline"});
  scenario.add(first, EventType::executor_init, {1, 9, 5, 6, 0, UINT64_MAX},  // runtime > deadline
               {"eyes", "events", "polled", "deadline"});
  flow(0, 1);
  const Model model = model_of(scenario);
  EXPECT_EQ(model.executors[0].id, "eyes");
  EXPECT_EQ(model.executors[0].kind, model::ExecutorKind::events);
  EXPECT_EQ(model.executors[0].supply, model::Supply(model::DedicatedSupply{}));
  EXPECT_EQ(model.executors[1].id, "brain");
  EXPECT_EQ(model.executors[1].cpu, 1);
  EXPECT_EQ(model.executors[1].supply,
            model::Supply(model::ReservationSupply{Duration(2'000'000), Duration(6'000'000),
                                                   Duration(5'000'000)}));
}

TEST_F(Pipeline, ChainsNamesAndSuppliesOfAnotherModelAreTakenOver) {
  flow(0, 1);
  const auto other = model::parse(R"({"format": "takt/model", "version": 1,
    "executors": [{"id": "x", "name": "Sensing"},
                  {"id": "y", "supply": {"kind": "reservation", "budget": 1, "period": 5}}],
    "callbacks": [
      {"id": "s", "node": "sensor", "executor": "x", "kind": "timer",
       "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
      {"id": "f", "node": "/filter", "executor": "y", "kind": "subscription", "topic": "raw",
       "execution_time": {"curve": [1]}},
      {"id": "g", "node": "/gone", "executor": "y", "kind": "subscription", "topic": "/raw",
       "execution_time": {"curve": [1]}}],
    "edges": [{"from": "s", "to": "f"}, {"from": "s", "to": "g"}],
    "chains": [{"id": "sense", "callbacks": ["s", "f"], "goal": 5000, "rank": 2},
               {"id": "lost", "callbacks": ["s", "g"]}]})",
                                  "other");
  ASSERT_TRUE(other) << other.error().message;
  const Model model =
      model_of(scenario, {.name = "n", .chains_from = other->model, .supplies_from = other->model});
  EXPECT_EQ(model.name, "n");
  EXPECT_EQ(model.executors[0].id, "x");
  EXPECT_EQ(model.executors[0].name, "Sensing");
  EXPECT_EQ(model.executors[1].supply,
            model::Supply(model::ReservationSupply{Duration(1), Duration(5), Duration(5)}));
  ASSERT_THAT(model.chains, SizeIs(1));
  EXPECT_EQ(model.chains[0].id, "sense");
  EXPECT_EQ(model.chains[0].goal, Duration(5000));
  EXPECT_EQ(model.chains[0].rank, 2);
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/sensor:timer-10ms", "/filter:/raw"));
  EXPECT_EQ(json::parse(model.provenance)["chains_not_found"], json{"lost"});
}

/// As the latency manager does: events one by one, and a model now and then.
TEST_F(Pipeline, LiveEqualsOffline) {
  for (std::int64_t i = 0; i < 20; ++i) {
    flow(100'000 * i, i + 1);
  }
  const Model offline = model_of(scenario);
  scenario.rewind();
  events::Batch batch;
  ASSERT_TRUE(scenario.read(batch));
  Synthesizer synthesizer;
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(synthesizer);
  execution::Pass pass;
  pass.first = batch.events.front().time;
  std::size_t models = 0;
  for (const events::Event& event : batch.events) {
    interpreter.consume(event, batch);
    pass.last = event.time;
    ++pass.events;
    models += synthesizer.model(scenario, interpreter.database(), pass, {}) ? 1u : 0u;
  }
  EXPECT_GT(models, batch.events.size() / 2);
  interpreter.finish();
  const auto live = synthesizer.model(scenario, interpreter.database(), pass, {});
  ASSERT_TRUE(live);
  EXPECT_EQ(model::to_json(*live), model::to_json(offline));
}

}  // namespace
}  // namespace takt::synthesis
