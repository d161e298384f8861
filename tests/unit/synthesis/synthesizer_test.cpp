#include "takt/synthesis/synthesizer.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "../execution/scenario.hpp"
#include "chains.hpp"
#include "edges.hpp"
#include "takt/model/json.hpp"
#include "takt/synthesis/declared_sets.hpp"

namespace takt::synthesis {
namespace {

using model::Model;
using nlohmann::json;
using test::EventType;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

Result<Model> synthesise(Scenario& scenario, const Options& options = {},
                         const Observing& observing = {}) {
  Synthesizer synthesizer(observing);
  execution::Interpreter interpreter(scenario.threads());
  interpreter.add(synthesizer);
  const auto pass = execution::run(scenario, interpreter, {});
  return synthesizer.model(scenario, interpreter.database(), pass, options);
}

/// The model of a scenario that has one; it must also survive its own document.
Model model_of(Scenario& scenario, const Options& options = {}, const Observing& observing = {}) {
  const auto model = synthesise(scenario, options, observing);
  EXPECT_TRUE(model) << (model ? "" : model.error().message);
  if (!model) {
    return {};
  }
  const auto parsed = model::parse(model::to_json(*model), "synthesised");
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return *model;
}

std::vector<std::string> ids_of(const Model& model,
                                const std::vector<model::CallbackIndex>& callbacks) {
  std::vector<std::string> ids;
  for (const model::CallbackIndex callback : callbacks) {
    ids.push_back(model[callback].id);
  }
  return ids;
}

/// A timer whose messages a subscription of another process relays to a third callback.
class Pipeline : public testing::Test {
 protected:
  Scenario scenario;
  Program first = scenario.program(1, "h", "first");
  Program second = scenario.program(2, "h", "second");
  std::uint64_t sensor = scenario.node(first, "sensor");
  std::uint64_t filter = scenario.node(second, "filter");
  std::uint64_t control = scenario.node(second, "control");
  test::Publisher raw = scenario.publisher(first, sensor, "/raw");
  test::Publisher clean = scenario.publisher(second, filter, "/clean");
  std::uint64_t timer = scenario.timer(first, sensor, std::chrono::milliseconds(10), "S::tick()");
  test::Subscription on_raw = scenario.subscription(second, filter, "/raw", "F::on_raw()");
  test::Subscription on_clean = scenario.subscription(second, control, "/clean", "C::run()");

  void flow(std::int64_t start, std::int64_t stamp) {
    scenario.now = start;
    scenario.run(first, timer, 100, std::pair(raw, stamp));
    scenario.handle(second, on_raw, stamp, 200 + stamp, std::pair(clean, stamp));
    scenario.handle(second, on_clean, stamp, 300);
  }
};

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

TEST_F(Pipeline, DelayIsTheLongestSeenToEndAWaitAndNoneWithinAnExecutor) {
  for (const std::int64_t delay : {40, 70, 20}) {
    scenario.now += 10'000;
    scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
    scenario.now += 100;
    scenario.run(first, timer, 0, std::pair(raw, delay));
    scenario.now += delay;
    scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
    scenario.handle(second, on_raw, delay, 200, std::pair(clean, delay));
    scenario.handle(second, on_clean, delay, 300);
  }
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges[0].delay, std::chrono::microseconds(70));
  EXPECT_EQ(model.edges[1].delay, Duration(0));
}

TEST_F(Pipeline, DelayWithinAnExecutorIsThatOfAThreadThatWakesUp) {
  const Program other = scenario.worker(second, 3);
  const auto wait = [&] {
    scenario.now += 10'000;
    scenario.wait(other);
    scenario.now += 100;
  };
  wait();
  scenario.handle(second, on_raw, 0, 10);
  scenario.now += 20;
  scenario.look(other);
  scenario.run(other, on_raw.callback, 10);  // both threads are of one executor
  wait();
  scenario.handle(second, on_raw, 1, 200, std::pair(clean, 1));
  scenario.now += 30;
  scenario.look(other);
  scenario.handle(other, on_clean, 1, 300);
  const Model model = model_of(scenario);
  EXPECT_EQ(model.executors.at(0).threads, 2);
  EXPECT_THAT(edges_of(model), ElementsAre("/filter:/raw -> /control:/clean"));
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(30));
}

TEST_F(Pipeline, DelayOfAMessageIsSeenBehindAnotherThatEndedTheWait) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.run(first, timer, 0, std::pair(raw, 1));
  scenario.now += 500;
  scenario.run(first, timer, 0, std::pair(raw, 2));
  scenario.now += 20;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 2, 200, std::pair(clean, 2));
  scenario.handle(second, on_raw, 1, 200, std::pair(clean, 1));
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(520));
}

// What the sender does after it has sent, or its waiting for a processor, is in its own bound.
TEST_F(Pipeline, DelayBeginsWhenTheSenderEnds) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.start(first, timer);
  scenario.publish(first, raw, 1);
  scenario.now += 800;
  scenario.end(first, timer);
  scenario.now += 30;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 1, 200);
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(30));
}

TEST_F(Pipeline, AMessageThatCameBeforeItsSenderEndedHasNoDelay) {
  scenario.now += 10'000;
  scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
  scenario.now += 100;
  scenario.start(first, timer);
  scenario.publish(first, raw, 1);
  scenario.now += 50;
  scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
  scenario.handle(second, on_raw, 1, 200);
  scenario.now += 800;
  scenario.end(first, timer);
  EXPECT_EQ(model_of(scenario).edges[0].delay, Duration(0));
}

/// Messages that take so many microseconds to a thread that waits for them.
class Messages : public Pipeline {
 protected:
  std::vector<Instant> times;
  PromptThreads prompt;

  void take(const std::vector<std::int64_t>& delays, bool from_memory = false) {
    for (const std::int64_t delay : delays) {
      scenario.now += 10'000;
      times.emplace_back(std::chrono::microseconds(scenario.now));
      scenario.add(second, EventType::rclcpp_executor_wait_for_work, {0});
      scenario.now += 100;
      scenario.run(first, timer, 0, std::pair(raw, delay));
      scenario.now += delay;
      scenario.add(second, EventType::rclcpp_executor_get_next_ready, {});
      if (from_memory) scenario.take_from_memory(second, on_raw, delay);
      if (!from_memory) scenario.take(second, on_raw, delay);
      scenario.run(second, on_raw.callback, 200);
    }
  }
};

/// The first ones come by the middleware, until both ends share the topic.
TEST_F(Messages, ThroughSharedMemoryHaveTheDelaysSinceTheFirstOfThem) {
  take({7'000, 900});
  take({40, 60}, true);
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges.at(0).transport, model::Transport::shared_memory);
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(60));
}

TEST_F(Messages, ByTheMiddlewareAfterwardsCountAsWell) {
  take({40, 60}, true);
  take({900});
  const Model model = model_of(scenario);
  EXPECT_EQ(model.edges.at(0).transport, model::Transport::shared_memory);
  EXPECT_EQ(model.edges.at(0).delay, std::chrono::microseconds(900));
}

TEST_F(Messages, ByTheMiddlewareAloneHaveNoTransportOfTheirOwn) {
  take({40, 60});
  EXPECT_EQ(model_of(scenario).edges.at(0).transport, std::nullopt);
}

class Delays : public Messages {
 protected:
  Delays() { take({7'000, 40, 900}); }
};

/// The thread had to wait for a processor each time.
TEST_F(Messages, AreNotTakenForSlowWhileNobodyIsPrompt) {
  take({107'000, 140'000, 120'000});
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::milliseconds(20));
  scenario.rewind();
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::milliseconds(140));
}

TEST_F(Delays, CountWhileTheReceiverIsPrompt) {
  prompt.add(second.thread, times[1]);
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::microseconds(900));
}

TEST_F(Delays, AreTheShortestWhileNobodyIsPrompt) {
  EXPECT_EQ(model_of(scenario, {}, {.prompt = &prompt}).edges[0].delay,
            std::chrono::microseconds(40));
}

TEST_F(Delays, CountAllWhereThreadsAreNotToldApart) {
  EXPECT_EQ(model_of(scenario).edges[0].delay, std::chrono::microseconds(7'000));
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

/// One executor for each callback group: each on a thread of its own.
TEST(Synthesizer, ExecutorsOfSingleCallbackGroupsAreTold) {
  Scenario scenario;
  Program program = scenario.program(1);
  const Program worker = scenario.worker(program, 2);
  const std::uint64_t arm = scenario.node(program, "arm");
  const std::uint64_t hand = scenario.node(program, "hand");
  const std::uint64_t fast = scenario.timer(program, arm, std::chrono::milliseconds(10));
  const std::uint64_t slow = scenario.timer(program, arm, std::chrono::milliseconds(90));
  const std::uint64_t other = scenario.timer(program, hand, std::chrono::milliseconds(30));
  for (int i = 0; i < 4; ++i) {
    scenario.run(program, fast, 10);
    scenario.run(worker, slow, 10);
    scenario.run(worker, other, 10);
  }
  const json told = json::parse(model_of(scenario).provenance)["callback_isolated"];
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0]["node"], "/arm");
  EXPECT_EQ(told[0]["executors"].size(), 2);
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

/// Messages that go round would be a cycle without end: the least observed edge is left out.
TEST(Synthesizer, CyclesAreBrokenWithAWarning) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto other = scenario.node(program, "m");
  const auto a = scenario.publisher(program, node, "/a");
  const auto b = scenario.publisher(program, node, "/b");
  const auto back = scenario.publisher(program, other, "/a");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto on_a = scenario.subscription(program, node, "/a");
  const auto on_b = scenario.subscription(program, other, "/b");
  for (std::int64_t i = 0; i < 5; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer, 1, std::pair(a, 10 * i + 1));
    scenario.handle(program, on_a, 10 * i + 1, 1, std::pair(b, 10 * i + 2));
    const bool returns = i == 2;
    scenario.handle(program, on_b, 10 * i + 2, 1,
                    returns ? std::optional(std::pair(back, 10 * i + 3)) : std::nullopt);
    if (returns) {
      scenario.handle(program, on_a, 10 * i + 3, 1);
    }
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model), UnorderedElementsAre("/n:timer-10ms -> /n:/a", "/n:/a -> /m:/b"));
  EXPECT_THAT(json::parse(model.provenance)["warnings"].dump(),
              HasSubstr("would be a cycle without end"));
  // The activations that the edge explained are now the receiver's own.
  EXPECT_TRUE(model.callbacks[1].activation);
}

/// Two nodes of one process, each with an executor, call a service of another.
class Calls : public testing::Test {
 protected:
  struct Caller {
    Program program;
    std::uint64_t node;
    std::uint64_t timer;
    test::Client client;
    test::Publisher output;
  };
  Scenario scenario;
  Program server = scenario.program(9, "h", "server");
  std::uint64_t server_node = scenario.node(server, "server");
  test::Service service = scenario.service(server, server_node, "/s");
  Caller a = caller(1, "a", 10);
  Caller b = caller(2, "b", 20);

  Caller caller(std::int64_t process, const std::string& name, std::int64_t period) {
    Program program = scenario.program(process, "h", name);
    const auto node = scenario.node(program, name);
    const auto timer = scenario.timer(program, node, std::chrono::milliseconds(period));
    const auto client = scenario.client(program, node, "/s");
    const auto output = scenario.publisher(program, node, "/" + name);
    return {program, node, timer, client, output};
  }
  void request(const Caller& caller, std::int64_t sequence) {
    scenario.look(caller.program);
    scenario.start(caller.program, caller.timer);
    scenario.now += 10;
    scenario.send_request(caller.program, caller.client, sequence);
    scenario.end(caller.program, caller.timer);
  }
  void call(const Caller& caller, std::int64_t sequence) {
    request(caller, sequence);
    scenario.serve(server, service, caller.client, sequence, 100);
    scenario.respond(caller.program, caller.client, sequence, 30,
                     std::pair(caller.output, sequence));
  }
};

/// performance-engineering fact 6: each caller gets its own response, and chains lead through the
/// service from each caller to its own client: 2 and not 4.
TEST_F(Calls, P06_AreEdgesThatKeepCallersApart) {
  auto sink = scenario.program(5, "h", "sink");
  const auto on_a = scenario.subscription(sink, scenario.node(sink, "sink"), "/a");
  for (std::int64_t i = 1; i <= 6; ++i) {
    scenario.now += 10'000;
    call(a, i);
    scenario.handle(sink, on_a, i, 5);
    call(b, i);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/a:timer-10ms -> /server:/s", "/b:timer-20ms -> /server:/s",
                                   "/server:/s -> /a:/s:response", "/server:/s -> /b:/s:response",
                                   "/a:/s:response -> /sink:/a"));
  for (const model::Edge& edge : model.edges) {
    if (model[edge.to].kind == model::CallbackKind::client) {
      ASSERT_TRUE(edge.triggered_by);
      ASSERT_THAT(*edge.triggered_by, SizeIs(1));
      EXPECT_EQ(model[edge.triggered_by->front()].node, model[edge.to].node);
      EXPECT_EQ(model[edge.to].activation, std::nullopt);
    }
  }
  std::vector<std::vector<std::string>> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(ids_of(model, chain.callbacks));
  EXPECT_THAT(chains, UnorderedElementsAre(
                          ElementsAre("/a:timer-10ms", "/server:/s", "/a:/s:response", "/sink:/a"),
                          ElementsAre("/b:timer-20ms", "/server:/s", "/b:/s:response")));
  const json calls = json::parse(model.provenance)["service_calls"];
  EXPECT_EQ(calls, json::parse(R"([{"service": "/server:/s", "count": 12,
      "callers": {"/a:timer-10ms": 6, "/b:timer-20ms": 6}, "unknown": 0}])"));
}

/// The server answers later, from the response of a call of its own: calls within calls return to
/// their callers, too.
TEST_F(Calls, WithinCallsAreKeptApart) {
  auto inner_program = scenario.program(6, "h", "inner");
  const auto inner_node = scenario.node(inner_program, "inner");
  const auto inner = scenario.service(inner_program, inner_node, "/inner");
  const auto inner_client = scenario.client(server, server_node, "/inner");
  std::int64_t number = 0;
  const auto nested = [&](const Caller& caller, std::int64_t sequence) {
    request(caller, sequence);
    scenario.look(server);
    scenario.take_request(server, service, caller.client, sequence);
    scenario.start(server, service.callback);
    scenario.send_request(server, inner_client, ++number);
    scenario.end(server, service.callback);
    scenario.serve(inner_program, inner, inner_client, number, 50);
    scenario.look(server);
    scenario.take_response(server, inner_client, number);
    scenario.now += 5;
    scenario.send_response(server, service, caller.client, sequence);
    scenario.look(server);
    scenario.respond(caller.program, caller.client, sequence, 30);
  };
  for (std::int64_t i = 1; i <= 6; ++i) {
    scenario.now += 10'000;
    nested(a, i);
    nested(b, i);
  }
  const Model model = model_of(scenario);
  std::vector<std::vector<std::string>> chains;
  for (const model::Chain& chain : model.chains) chains.push_back(ids_of(model, chain.callbacks));
  EXPECT_THAT(chains,
              UnorderedElementsAre(ElementsAre("/a:timer-10ms", "/server:/s", "/inner:/inner",
                                               "/server:/inner:response", "/a:/s:response"),
                                   ElementsAre("/b:timer-20ms", "/server:/s", "/inner:/inner",
                                               "/server:/inner:response", "/b:/s:response")));
}

/// A request that is told after the service has answered is no request from outside.
TEST_F(Calls, ToldLateAreEdgesToo) {
  for (std::int64_t i = 1; i <= 4; ++i) {
    scenario.now += 10'000;
    scenario.look(a.program);
    scenario.start(a.program, a.timer);
    scenario.serve(server, service, a.client, i, 100);
    scenario.send_request(a.program, a.client, i);
    scenario.end(a.program, a.timer);
    scenario.respond(a.program, a.client, i, 30);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/a:timer-10ms -> /server:/s", "/server:/s -> /a:/s:response"));
  for (const model::Callback& callback : model.callbacks) {
    EXPECT_EQ(callback.activation.has_value(), callback.kind == model::CallbackKind::timer);
  }
}

/// Requests of programs that are not recorded stay activations of the service's own.
TEST_F(Calls, OfNobodyRecordedAreFromOutside) {
  for (std::int64_t i = 1; i <= 4; ++i) {
    scenario.now += 10'000;
    scenario.serve(server, service, {.gid = {8, 8}}, i, 100);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(1));
  EXPECT_TRUE(model.callbacks[0].activation);
  EXPECT_EQ(json::parse(model.provenance)["service_calls"][0]["unknown"], 4);
}

/// performance-engineering fact 9: two publishers of a topic activate its subscriber, each of them;
/// a topic with two subscribers is two edges. Fact 5: what is cut off at the ends adds nothing.
TEST(Synthesizer, TopicsWithSeveralEndsAreSeveralEdges) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto first = scenario.publisher(program, node, "/or");
  const auto second = scenario.publisher(program, node, "/or");
  const auto timer_1 = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto timer_2 = scenario.timer(program, node, std::chrono::milliseconds(20));
  const auto sink_1 = scenario.subscription(program, scenario.node(program, "a"), "/or");
  const auto sink_2 = scenario.subscription(program, scenario.node(program, "b"), "/or");
  scenario.end(program, timer_1);
  for (std::int64_t i = 0; i < 4; ++i) {
    scenario.now += 5'000;
    scenario.run(program, i % 2 == 0 ? timer_1 : timer_2, 1,
                 std::pair(i % 2 == 0 ? first : second, i + 1));
    scenario.handle(program, sink_1, i + 1, 1);
    scenario.handle(program, sink_2, i + 1, 1);
  }
  scenario.start(program, timer_1);
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/n:timer-10ms -> /a:/or", "/n:timer-10ms -> /b:/or",
                                   "/n:timer-20ms -> /a:/or", "/n:timer-20ms -> /b:/or"));
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_EQ(json::parse(model.provenance)["observed"]["/n:timer-10ms"]["count"], 2);
}

TEST(Synthesizer, AnExecutorThatTellsOfNoWaitsIsOneOfEvents) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  for (int i = 0; i < 200; ++i) {
    scenario.now += 10'000;
    scenario.run(program, timer, 100);
  }
  const Model model = model_of(scenario);
  EXPECT_EQ(model.executors[0].kind, model::ExecutorKind::events);
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("told of no waits"));
}

TEST(Synthesizer, NothingThatRanIsAnError) {
  Scenario scenario;
  Program program = scenario.program(1);
  scenario.node(program, "n");
  const auto model = synthesise(scenario);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().message,
            "scenario: no callback ran in it; record rclcpp or Takt programs with the ros2 events, "
            "longer than their start-up, and start rclpy programs with 'takt record -- COMMAND'");
}

TEST(Synthesizer, UnknownCallbacksKeepTheirTimeButGetNoName) {
  Scenario scenario;
  Program program = scenario.program(1);
  scenario.run(program, 0xcafe, 10);
  scenario.now = 5'000;
  scenario.run(program, 0xcafe, 10);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(1));
  EXPECT_EQ(model.callbacks[0].id, "unknown(0xcafe)");
  EXPECT_EQ(model.callbacks[0].kind, model::CallbackKind::waitable);
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("start recording before the programs"));
}

/// Two timers feed a node that publishes.
class Fusion : public testing::Test {
 protected:
  explicit Fusion(std::uint64_t depth = 5) : depth_of_b(depth) {}

  std::uint64_t depth_of_b;
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t left = scenario.node(program, "left");
  std::uint64_t right = scenario.node(program, "right");
  std::uint64_t fusion = scenario.node(program, "fusion");
  std::uint64_t sink = scenario.node(program, "sink");
  test::Publisher a = scenario.publisher(program, left, "/a");
  test::Publisher b = scenario.publisher(program, right, "/b");
  test::Publisher out = scenario.publisher(program, fusion, "/out");
  std::uint64_t timer_a = scenario.timer(program, left, std::chrono::milliseconds(10));
  std::uint64_t timer_b = scenario.timer(program, right, std::chrono::milliseconds(10));
  test::Subscription on_a = scenario.subscription(program, fusion, "/a");
  test::Subscription on_b =
      scenario.subscription(program, fusion, "/b", "Node::on_message()", depth_of_b);
  test::Subscription on_out = scenario.subscription(program, sink, "/out");
  std::int64_t stamp = 0;

  void arrive(bool is_a, std::int64_t length, bool publishes) {
    ++stamp;
    scenario.now += 1'000;
    scenario.run(program, is_a ? timer_a : timer_b, 0, std::pair(is_a ? a : b, stamp));
    const auto output = publishes ? std::optional(std::pair(out, stamp)) : std::nullopt;
    scenario.handle(program, is_a ? on_a : on_b, stamp, length, output);
    if (publishes) {
      scenario.handle(program, on_out, stamp, 1);
    }
  }

  /// How many messages wait at most for the callback that the inputs are in the model.
  std::optional<std::int64_t> depth_of_fused() {
    scenario.add(program, EventType::message_link_partial_sync, {}, {},
                 {{on_a.handle, on_b.handle}, {out.handle}});
    for (int i = 0; i < 10; ++i) {
      arrive(true, 300, false);
      arrive(false, 500, true);
    }
    const Model model = model_of(scenario);
    EXPECT_EQ(model[model.joins.at(0).callback].id, "/fusion:/a+/b");
    return model[model.joins.at(0).callback].queue_depth;
  }

  /// Options that declare the node's subscriptions as a join, and a chain through it.
  static Options declaring(std::string_view kind) {
    auto declared = model::parse(R"({"format": "takt/model", "version": 1,
      "executors": [{"id": "e"}],
      "callbacks": [
        {"id": "l", "node": "/left", "executor": "e", "kind": "timer",
         "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
        {"id": "r", "node": "/right", "executor": "e", "kind": "timer",
         "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 10000000}},
        {"id": "f", "node": "/fusion", "executor": "e", "kind": "subscription",
         "execution_time": {"curve": [1]}},
        {"id": "s", "node": "/sink", "executor": "e", "kind": "subscription", "topic": "/out",
         "execution_time": {"curve": [1]}}],
      "edges": [{"from": "l", "to": "f", "topic": "/a"}, {"from": "r", "to": "f", "topic": "/b"},
                {"from": "f", "to": "s", "topic": "/out"}],
      "joins": [{"callback": "f", "kind": ")" +
                                     std::string(kind) + R"(", "inputs": ["l", "r"]}],
      "chains": [{"id": "c", "callbacks": ["l", "f", "s"]}]})",
                                 "declared");
    EXPECT_TRUE(declared) << declared.error().message;
    return {.chains_from = declared->model, .supplies_from = {}};
  }
};

TEST_F(Fusion, IsTheDeclaredJoinIfEveryRunAgrees) {  // facts 25 and 26: the completing input varies
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(true, 3, false);  // replaces the one before
    arrive(false, 500, true);
    arrive(false, 2, false);
    arrive(true, 400 + i, true);
  }
  const Model model = model_of(scenario, declaring("newest"));
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::newest);
  EXPECT_EQ(model[model.joins[0].callback].id, "/fusion:/a+/b");
  EXPECT_THAT(ids_of(model, model.joins[0].inputs),
              ElementsAre("/left:timer-10ms", "/right:timer-10ms"));
  EXPECT_THAT(edges_of(model),
              ElementsAre("/left:timer-10ms -> /fusion:/a+/b", "/right:timer-10ms -> /fusion:/a+/b",
                          "/fusion:/a+/b -> /sink:/out"));
  ASSERT_THAT(model.chains, SizeIs(1));
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/left:timer-10ms", "/fusion:/a+/b", "/sink:/out"));
  // A completion carries the runs that only stored: 2 + 3 + 500 µs.
  EXPECT_EQ(model[model.joins[0].callback].execution_time[0], std::chrono::microseconds(505));
  EXPECT_EQ(model[model.joins[0].callback].execution_time[1], std::chrono::microseconds(916));
}

/// What the sink sends to the fusion would be a cycle without end. The message that begins it comes
/// from elsewhere.
TEST_F(Fusion, ActivationsOfACycleAreThoseWhereItsMessagesArrive) {
  const auto back = scenario.publisher(program, sink, "/a");
  for (int i = 0; i < 200; ++i) {
    scenario.now = std::int64_t{1000} * i;
    scenario.handle(program, on_a, i, 1);
    scenario.now += 496;
    scenario.run(program, timer_b, 1, std::pair(b, 1000 + i));
    scenario.handle(program, on_b, 1000 + i, 1, std::pair(out, 1000 + i));
    scenario.handle(program, on_out, 1000 + i, 1, std::pair(back, i + 1));
  }
  const Model model = model_of(scenario);
  const auto fusion_callback =
      std::ranges::find(model.callbacks, "/fusion", &model::Callback::node);
  ASSERT_NE(fusion_callback, model.callbacks.end());
  EXPECT_THAT(json::parse(model.provenance)["warnings"].dump(),
              HasSubstr("would be a cycle without end"));
  ASSERT_TRUE(fusion_callback->activation);
  const auto& values = std::get<model::MinDistanceActivation>(*fusion_callback->activation).values;
  ASSERT_GE(values.size(), 2u);
  // From the first, which counts when it is taken, to the first that the sink sent.
  EXPECT_EQ(values[1], std::chrono::microseconds(500));
}

// Whichever input of the first join comes last publishes, so either may be the second join's
// sender.
TEST_F(Fusion, IsAnInputOfAnotherThoughItsCompletingInputVaries) {
  const auto third = scenario.node(program, "third");
  const auto c = scenario.publisher(program, third, "/c");
  const auto timer_c = scenario.timer(program, third, std::chrono::milliseconds(10));
  const auto last = scenario.node(program, "last");
  const auto on_fused = scenario.subscription(program, last, "/out");
  const auto on_c = scenario.subscription(program, last, "/c");
  const auto done = scenario.publisher(program, last, "/done");
  for (int i = 0; i < 10; ++i) {
    arrive(i % 2 == 0, 2, false);
    arrive(i % 2 != 0, 500, true);
    scenario.handle(program, on_fused, stamp, 2);
    scenario.run(program, timer_c, 0, std::pair(c, 1'000 + i));
    scenario.handle(program, on_c, 1'000 + i, 300, std::pair(done, 2'000 + i));
  }
  const Model model = model_of(scenario);
  std::vector<std::string> joins;
  for (const model::Join& join : model.joins) joins.push_back(model[join.callback].id);
  EXPECT_THAT(joins, UnorderedElementsAre("/fusion:/a+/b", "/last:/out+/c"));
  EXPECT_THAT(edges_of(model), testing::Contains("/fusion:/a+/b -> /last:/out+/c"));
}

TEST_F(Fusion, IsNoJoinIfOneRunDisagrees) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  arrive(false, 500, true);  // without a new /a
  const Model model = model_of(scenario, declaring("newest"));
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(edges_of(model), SizeIs(3));
}

TEST_F(Fusion, IsInferredFromTheRunsThatWaited) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 200, false);
    arrive(true, 200, false);
    arrive(false, 500, true);
    arrive(false, 200, false);
    arrive(true, 400, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::newest);
  EXPECT_EQ(model[model.joins[0].callback].id, "/fusion:/a+/b");
  EXPECT_EQ(model.joins[0].confidence, 90);  // /b waited 10 times for /a
  EXPECT_THAT(model.chains, SizeIs(2));
}

TEST_F(Fusion, IsInferredWhereAnInputIsKeptAndNeverLate) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  const model::Join& join = model.joins[0];
  EXPECT_EQ(join.confidence, 50);
  ASSERT_EQ(join.completed_by.size(), 1U);
  EXPECT_EQ(model[join.completed_by[0]].id, "/right:timer-10ms");
  EXPECT_EQ(join.keeping_time, std::chrono::microseconds(2));
}

TEST_F(Fusion, IsNoJoinWhereAnInputThatIsNeverWaitedForIsWorkedOn) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(edges_of(model),
              UnorderedElementsAre("/left:timer-10ms -> /fusion:/a",
                                   "/right:timer-10ms -> /fusion:/b", "/fusion:/b -> /sink:/out"));
}

TEST_F(Fusion, IsNoJoinWhereEachInputIsRelayed) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, true);
    arrive(false, 5, true);
  }
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

TEST_F(Fusion, OfEveryMessageIsInferred) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 200, false);
    arrive(true, 200, false);
    arrive(false, 500, true);
    arrive(false, 500, true);  // with the second of /a
    arrive(false, 200, false);
    arrive(true, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
}

struct FusionWithADeepInput : Fusion {
  FusionWithADeepInput() : Fusion(8) {}
};
struct FusionWithAShallowInput : Fusion {
  FusionWithAShallowInput() : Fusion(1) {}
};
/// With "keep all", whose depth is 0.
struct FusionWithAnUnboundedInput : Fusion {
  FusionWithAnUnboundedInput() : Fusion(0) {}
};

TEST_F(FusionWithADeepInput, KeepsAsManyMessagesAsThat) { EXPECT_EQ(depth_of_fused(), 8); }

TEST_F(FusionWithAShallowInput, KeepsAsManyMessagesAsTheOther) { EXPECT_EQ(depth_of_fused(), 5); }

TEST_F(FusionWithAnUnboundedInput, KeepsAnyNumberOfMessages) {
  EXPECT_EQ(depth_of_fused(), std::nullopt);
}

TEST_F(Fusion, IsTheLinkThatTheProgramDeclares) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_FALSE(model.joins[0].confidence);
}

TEST_F(Fusion, IsNotTheLinkThatTheProgramDeclaresIfARunDisagrees) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  arrive(false, 500, true);
  const Model model = model_of(scenario);
  EXPECT_THAT(model.joins, SizeIs(0));
  EXPECT_THAT(json::parse(model.provenance)["warnings"][0].get<std::string>(),
              HasSubstr("not taken for a join"));
}

TEST_F(Fusion, IsNoJoinIfALinkedInputCameOnlyDuringStartUp) {
  scenario.add(program, EventType::message_link_partial_sync, {}, {},
               {{on_a.handle, on_b.handle}, {out.handle}});
  arrive(false, 500, false);
  scenario.now = 2'000'000;
  for (int i = 0; i < 10; ++i) arrive(true, 300, false);
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

TEST(DeclaredSets, CostAtMostTheLongestTime) {
  execution::Objects objects;
  execution::InputLink link;
  for (std::size_t i = 0; i < 4; ++i) link.inputs.emplace_back(i);
  objects.input_links.push_back(link);
  DeclaredSets sets;
  for (const ObservedCallbackIndex input : link.inputs) {
    execution::CallbackInstance longest;
    longest.callback = input;
    longest.cpu_time = longest_time;
    sets.add(objects, longest);
  }
  const auto* const cost = sets.cost({link.inputs.begin(), link.inputs.end()});
  ASSERT_NE(cost, nullptr);
  EXPECT_EQ(cost->values().front(), longest_time);
}

TEST_F(Fusion, IsAJoinOfTheDeclaredKindWhereTheTraceLeavesItOpen) {
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario, declaring("and"));
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
}

TEST_F(Fusion, IsOfTheKindThatTheProgramDeclares) {
  scenario.add(program, EventType::inputs_linked, {0}, {"and"}, {{on_a.callback, on_b.callback}});
  scenario.add(program, EventType::links_declared, {1});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 2, false);
    arrive(false, 500, true);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  EXPECT_EQ(model.joins[0].kind, model::JoinKind::and_);
  EXPECT_FALSE(model.joins[0].confidence);
}

TEST_F(Fusion, ThatPublishesNothingCostsWhatItsSetsDo) {
  scenario.add(program, EventType::inputs_linked, {0}, {"newest"},
               {{on_a.callback, on_b.callback}});
  scenario.add(program, EventType::links_declared, {1});
  for (int i = 0; i < 10; ++i) {
    // Either may complete a set, and then does the work for both.
    arrive(i % 2 == 0, 2, false);
    arrive(i % 2 != 0, 500, false);
  }
  const Model model = model_of(scenario);
  ASSERT_THAT(model.joins, SizeIs(1));
  const auto& curve = model[model.joins[0].callback].execution_time;
  EXPECT_EQ(curve[0], std::chrono::microseconds(502));
  EXPECT_EQ(curve[1], std::chrono::microseconds(1004));
}

TEST_F(Fusion, IsNotInferredWhereTheProgramDeclaresThatThereIsNone) {
  scenario.add(program, EventType::links_declared, {0});
  for (int i = 0; i < 10; ++i) {
    arrive(true, 300, false);
    arrive(false, 500, true);
  }
  EXPECT_THAT(model_of(scenario).joins, SizeIs(0));
}

/// A sensor's messages are kept by a subscription; a timer of its node publishes to an actuator.
class Sampling : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t sensor = scenario.node(program, "sensor");
  std::uint64_t control = scenario.node(program, "control");
  std::uint64_t actuator = scenario.node(program, "actuator");
  test::Publisher scan = scenario.publisher(program, sensor, "/scan");
  test::Publisher command = scenario.publisher(program, control, "/command");
  std::uint64_t sensing = scenario.timer(program, sensor, std::chrono::milliseconds(10));
  std::uint64_t controlling = scenario.timer(program, control, std::chrono::milliseconds(20));
  test::Subscription on_scan = scenario.subscription(program, control, "/scan");
  test::Subscription on_command = scenario.subscription(program, actuator, "/command");
  std::int64_t stamp = 0;

  void sense() {
    scenario.now += 1'000;
    scenario.run(program, sensing, 10, std::pair(scan, ++stamp));
    scenario.handle(program, on_scan, stamp, 5);
  }
  /// Edges without messages.
  static std::ptrdiff_t sampled_inputs(const Model& model) {
    return std::ranges::count_if(model.edges, [](const auto& edge) { return !edge.topic; });
  }
  void act(bool publishes = true) {
    scenario.now += 1'000;
    if (!publishes) {
      scenario.run(program, controlling, 30);
      return;
    }
    scenario.run(program, controlling, 30, std::pair(command, ++stamp));
    scenario.handle(program, on_command, stamp, 7);
  }
};

TEST_F(Sampling, IsWhatTheProgramDeclares) {
  scenario.add(program, EventType::inputs_linked, {controlling}, {"sampled"}, {{on_scan.callback}});
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  const Model model = model_of(scenario);
  ASSERT_EQ(sampled_inputs(model), 1);
  EXPECT_TRUE(std::ranges::none_of(model.edges,
                                   [](const auto& edge) { return edge.confidence.has_value(); }));
}

TEST_F(Sampling, IsLeftOutWithAWarningWhereWhatReadsIsNoTimer) {
  scenario.add(program, EventType::inputs_linked, {on_command.callback}, {"sampled"},
               {{on_command.callback, on_scan.callback}});
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  const Model model = model_of(scenario);
  EXPECT_EQ(sampled_inputs(model), 0);
  EXPECT_TRUE(model::parse(model::to_json(model), "recorded"));
  EXPECT_THAT(
      model.provenance,
      HasSubstr(R"(\"/actuator:/command\" is declared to read what \"/control:/scan\" keeps)"));
}

TEST_F(Sampling, IsNotInferredWhereTheProgramDeclaresThatThereIsNone) {
  scenario.add(program, EventType::links_declared, {0});
  sense();
  act();
  EXPECT_EQ(sampled_inputs(model_of(scenario)), 0);
}

TEST_F(Sampling, IsInferredWhereADeclaredLinkIsLost) {
  scenario.add(program, EventType::links_declared, {1});
  sense();
  act();
  EXPECT_EQ(sampled_inputs(model_of(scenario)), 1);
}

TEST_F(Sampling, IsAnEdgeToTheTimerAndPartOfAChain) {
  for (int i = 0; i < 5; ++i) {
    sense();
    sense();
    act();
  }
  const Model model = model_of(scenario);
  EXPECT_THAT(edges_of(model), UnorderedElementsAre("/sensor:timer-10ms -> /control:/scan",
                                                    "/control:/scan -> /control:timer-20ms",
                                                    "/control:timer-20ms -> /actuator:/command"));
  EXPECT_EQ(model.edges.back().confidence, 50);
  EXPECT_EQ(model.edges.back().topic, std::nullopt);
  ASSERT_THAT(model.chains, SizeIs(2));
  EXPECT_EQ(model.chains[0].id, "/sensor->/actuator");
  EXPECT_THAT(ids_of(model, model.chains[0].callbacks),
              ElementsAre("/sensor:timer-10ms", "/control:/scan", "/control:timer-20ms",
                          "/actuator:/command"));
  EXPECT_EQ(model.chains[1].id, "/control->/actuator");
}

TEST_F(Sampling, IsSurerOfATimerThatWaitedForTheFirstMessage) {
  for (int i = 0; i < 4; ++i) {
    act(false);
  }
  for (int i = 0; i < 5; ++i) {
    sense();
    act();
  }
  EXPECT_EQ(model_of(scenario).edges.back().confidence, 80);
}

TEST_F(Sampling, IsSureWhereTheProgramDeclaresIt) {
  scenario.add(program, EventType::message_link_periodic_async, {}, {},
               {{on_scan.handle}, {command.handle}});
  sense();
  act();
  const Model model = model_of(scenario);
  EXPECT_THAT(model.edges, SizeIs(3));
  EXPECT_EQ(model.edges.back().confidence, std::nullopt);
}

TEST_F(Sampling, IsNoEdgeToATimerThatPublishesNothing) {
  sense();
  act(false);
  EXPECT_THAT(edges_of(model_of(scenario)), ElementsAre("/sensor:timer-10ms -> /control:/scan"));
}

TEST(CallbackGroups, DifferWhereCallbacksOfANodeRanAtTheSameTime) {
  Scenario scenario;
  Program one = scenario.program(1);
  const auto two = scenario.worker(one, 2);
  const auto node = scenario.node(one, "n");
  std::vector<std::uint64_t> timers;
  for (int i = 0; i < 4; ++i) {
    timers.push_back(scenario.timer(one, node, std::chrono::milliseconds(10 + i)));
  }
  const auto overlap = [&](std::uint64_t first, std::uint64_t second) {
    scenario.now += 100;
    scenario.start(one, first);
    scenario.now += 10;
    scenario.start(two, second);
    scenario.now += 10;
    scenario.end(one, first);
    scenario.end(two, second);
  };
  overlap(timers[0], timers[1]);
  overlap(timers[3], timers[3]);
  scenario.now += 100;
  scenario.run(one, timers[2], 10);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(4));
  EXPECT_EQ(model.callbacks[0].callback_group, std::nullopt);
  EXPECT_EQ(model.callbacks[1].callback_group, "/n 2");
  EXPECT_EQ(model.callbacks[3].callback_group, "reentrant");
}

TEST(CallbackGroups, DifferForAllThatRanBesideOneLongRun) {
  Scenario scenario;
  Program one = scenario.program(1);
  const auto two = scenario.worker(one, 2);
  const auto node = scenario.node(one, "n");
  const auto longest = scenario.timer(one, node, std::chrono::milliseconds(10));
  const auto first = scenario.timer(one, node, std::chrono::milliseconds(11));
  const auto second = scenario.timer(one, node, std::chrono::milliseconds(12));
  scenario.run(one, first, 10);  // both threads are of one executor
  scenario.start(one, longest);
  scenario.run(two, first, 10);
  scenario.run(two, second, 10);
  scenario.end(one, longest);
  const Model model = model_of(scenario);
  ASSERT_THAT(model.callbacks, SizeIs(3));
  EXPECT_EQ(model.callbacks[0].callback_group, std::nullopt);
  EXPECT_EQ(model.callbacks[1].callback_group, "/n 2");
  EXPECT_EQ(model.callbacks[2].callback_group, "/n 2");
}

/// The overhead of one instance, in µs, of an executor with so many threads that run the callback
/// in turn: each speaks up after 5 µs, but once after 24 ms, and then takes 10 µs to choose.
std::int64_t overhead_of(int threads) {
  Scenario scenario;
  Program first = scenario.program(1);
  const auto node = scenario.node(first, "n");
  const auto timer = scenario.timer(first, node, std::chrono::milliseconds(10));
  const std::vector<Program> all{first, scenario.worker(first, 2)};
  for (int i = 0; i < 12; ++i) {
    const Program& thread = all.at(static_cast<std::size_t>(i % threads));
    scenario.wait(thread);
    scenario.look(thread);
    scenario.run(thread, timer, 100);
    scenario.now += i == 6 ? 24'000 : 5;
    scenario.look(thread);
    scenario.now += 10;
    scenario.run(thread, timer, 100);
  }
  return model_of(scenario).executors.at(0).overhead.at(0) / std::chrono::microseconds(1);
}

TEST(Overhead, HasNoWaitsOfAThreadForItsTurnToChoose) {
  EXPECT_EQ(overhead_of(1), 24'010);
  EXPECT_EQ(overhead_of(2), 15);
}

TEST(UnnamedWork, IsThatAfterStartUp) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(100));
  const auto work = [&](std::int64_t time) {
    scenario.look(program);
    scenario.now += time;
    scenario.look(program);
    scenario.run(program, timer, 10);
    scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  };
  work(500'000);
  scenario.now = 2'000'000;
  work(700);
  work(600);
  const json work_found = json::parse(model_of(scenario).provenance)["unnamed_work"];
  ASSERT_THAT(work_found, SizeIs(1));
  EXPECT_EQ(work_found[0]["count"], 2);
  EXPECT_EQ(work_found[0]["longest"], 700'000);
}

TEST(Chains, OfAPipelineThatIsTooLongAreCutBeforeTheStackIs) {
  Model model;
  model.callbacks.resize(200'000);
  for (std::size_t i = 1; i < model.callbacks.size(); ++i) {
    model::Edge edge;
    edge.from = model::CallbackIndex(i - 1);
    edge.to = model::CallbackIndex(i);
    model.edges.push_back(edge);
  }
  model.callbacks.front().activation = model::PeriodicActivation{};
  EXPECT_FALSE(add_maximal_chains(model));
  EXPECT_THAT(model.chains, SizeIs(0));
}

TEST(ChainNames, TellChainsApartByNodesOnTheWay) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto source = scenario.node(program, "source");
  const auto left = scenario.node(program, "left");
  const auto right = scenario.node(program, "right");
  const auto sink = scenario.node(program, "sink");
  const auto start = scenario.publisher(program, source, "/start");
  const auto by_left = scenario.publisher(program, left, "/l");
  const auto by_right = scenario.publisher(program, right, "/r");
  const auto timer = scenario.timer(program, source, std::chrono::milliseconds(10));
  const auto on_left = scenario.subscription(program, left, "/start");
  const auto on_right = scenario.subscription(program, right, "/start");
  const auto on_l = scenario.subscription(program, sink, "/l");
  const auto on_r = scenario.subscription(program, sink, "/r");
  for (std::int64_t i = 0; i < 3; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer, 1, std::pair(start, 3 * i + 1));
    scenario.handle(program, on_left, 3 * i + 1, 1, std::pair(by_left, 3 * i + 2));
    scenario.handle(program, on_right, 3 * i + 1, 1, std::pair(by_right, 3 * i + 3));
    scenario.handle(program, on_l, 3 * i + 2, 100);
    scenario.handle(program, on_r, 3 * i + 3, 100);
  }
  std::vector<std::string> ids;
  for (const model::Chain& chain : model_of(scenario).chains) {
    ids.push_back(chain.id);
  }
  EXPECT_THAT(ids, ElementsAre("/source->/sink via /left", "/source->/sink via /right"));
}

/// Two timers publish on the same topic; the relay passes on only one's messages.
TEST(TriggerSets, HoldThePredecessorsWhoseMessagesWerePassedOn) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto one = scenario.node(program, "one");
  const auto two = scenario.node(program, "two");
  const auto relay = scenario.node(program, "relay");
  const auto end = scenario.node(program, "end");
  const auto from_one = scenario.publisher(program, one, "/in");
  const auto from_two = scenario.publisher(program, two, "/in");
  const auto out = scenario.publisher(program, relay, "/out");
  const auto again = scenario.publisher(program, relay, "/in");
  const auto timer_one = scenario.timer(program, one, std::chrono::milliseconds(10));
  const auto timer_two = scenario.timer(program, two, std::chrono::milliseconds(10));
  const auto on_in = scenario.subscription(program, relay, "/in");
  const auto on_out = scenario.subscription(program, end, "/out");
  for (std::int64_t i = 0; i < 10; ++i) {
    scenario.now += 1'000;
    scenario.run(program, timer_one, 1, std::pair(from_one, 10 * i + 1));
    scenario.handle(program, on_in, 10 * i + 1, 1, std::pair(out, 10 * i + 2));
    scenario.handle(program, on_out, 10 * i + 2, 1);
    scenario.run(program, timer_two, 1, std::pair(from_two, 10 * i + 3));
    scenario.handle(program, on_in, 10 * i + 3, 1, std::pair(again, 10 * i + 4));
    scenario.handle(program, on_in, 10 * i + 4, 1);  // its own message triggers nothing
  }
  const Model model = model_of(scenario);
  for (const model::Edge& edge : model.edges) {
    const std::string name = model[edge.from].id + " -> " + model[edge.to].id;
    if (name == "/relay:/in -> /end:/out") {
      EXPECT_THAT(ids_of(model, edge.triggered_by.value()), ElementsAre("/one:timer-10ms"));
    } else if (name == "/relay:/in -> /relay:/in") {
      EXPECT_THAT(ids_of(model, edge.triggered_by.value()), ElementsAre("/two:timer-10ms"));
    } else {
      EXPECT_EQ(edge.triggered_by, std::nullopt) << name;
    }
  }
  EXPECT_THAT(model.edges, SizeIs(4));
  // The chain from /two does not go on to /end.
  ASSERT_THAT(model.chains, SizeIs(2));
  EXPECT_EQ(model.chains[0].id, "/one->/end");
  EXPECT_EQ(model.chains[1].id, "/two->/relay");
}

TEST(Synthesizer, SeveralMessagesOfAnInstanceAreSeveralEdges) {
  Scenario scenario;
  Program program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/t");
  const auto timer = scenario.timer(program, node, std::chrono::milliseconds(10));
  const auto on_t = scenario.subscription(program, node, "/t");
  scenario.start(program, timer);
  scenario.publish(program, publisher, 1);
  scenario.publish(program, publisher, 2);
  scenario.end(program, timer);
  scenario.handle(program, on_t, 1, 1);
  scenario.handle(program, on_t, 2, 1);
  EXPECT_THAT(model_of(scenario).edges, SizeIs(2));
}

}  // namespace
}  // namespace takt::synthesis
