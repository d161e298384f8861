#include <gmock/gmock.h>

#include "scenario.hpp"
#include "takt/base/grow.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {
namespace {

using std::chrono::milliseconds;
using test::Program;
using test::Scenario;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using enum ThreadClass;
using enum ThreadEvent;

ThreadClass after(std::initializer_list<ThreadEvent> events) {
  ThreadHistory history;
  for (const ThreadEvent event : events) history.on(event);
  return history.now();
}

// ros-llama S-4.4.3, Fig. 5.11: from each state, each event.
TEST(ThreadHistory, FollowsTheTableOfTransitions) {
  const std::vector<std::pair<ThreadClass, std::vector<ThreadEvent>>> states{
      {unknown, {}},
      {data_driven, {publish}},
      {periodic, {rate_sleep}},
      {ThreadClass::executor, {spin}},
      {unclassifiable, {ThreadEvent::limited_spin}}};
  const std::vector<std::pair<ThreadEvent, std::vector<ThreadClass>>> table{
      {spin,
       {ThreadClass::executor, ThreadClass::executor, ThreadClass::executor, ThreadClass::executor,
        ThreadClass::executor}},
      {ThreadEvent::limited_spin,
       {unclassifiable, unclassifiable, unclassifiable, unclassifiable, unclassifiable}},
      {rate_sleep, {periodic, periodic, periodic, unclassifiable, unclassifiable}},
      {publish, {data_driven, data_driven, periodic, ThreadClass::executor, unclassifiable}},
      {rate_stop, {unknown, data_driven, unknown, ThreadClass::executor, unclassifiable}}};
  for (const auto& [event, results] : table) {
    for (std::size_t i = 0; i < states.size(); ++i) {
      ThreadHistory history;
      for (const ThreadEvent before : states[i].second) history.on(before);
      ASSERT_EQ(history.now(), states[i].first);
      EXPECT_EQ(history.on(event), results[i] != states[i].first);
      EXPECT_EQ(history.now(), results[i])
          << "event " << static_cast<int>(event) << " in " << to_string(states[i].first);
    }
  }
}

// ros-llama, fact 14.
TEST(ThreadHistory, F14_TransitionsAreThoseOfTheTable) {
  EXPECT_EQ(after({spin, rate_sleep}), unclassifiable);
  EXPECT_EQ(after({spin, rate_sleep, publish, rate_stop, rate_sleep}), unclassifiable);
  EXPECT_EQ(after({spin, rate_sleep, spin}), ThreadClass::executor);
  EXPECT_EQ(after({publish, rate_sleep}), periodic);
  // dwb_controller: rates that come and go, and publications in between.
  ThreadHistory dwb;
  for (const ThreadEvent event : {rate_sleep, rate_stop, publish, rate_sleep}) dwb.on(event);
  EXPECT_EQ(dwb.now(), periodic);
  const std::uint64_t changes = dwb.changes();
  for (const ThreadEvent event : {rate_stop, publish, rate_sleep, rate_stop, publish}) {
    EXPECT_FALSE(dwb.on(event));
  }
  EXPECT_EQ(dwb.now(), periodic);
  EXPECT_EQ(dwb.changes(), changes);
}

TEST(ThreadHistory, SaysWhyAThreadIsUnclassifiable) {
  ThreadHistory history;
  EXPECT_THAT(history.reason(), IsEmpty());
  history.on(ThreadEvent::limited_spin);
  EXPECT_THAT(std::string(history.reason()), testing::HasSubstr("spin_some"));
  history.on(spin);
  EXPECT_THAT(history.reason(), IsEmpty());
  history.on(rate_sleep);
  EXPECT_THAT(std::string(history.reason()), testing::HasSubstr("sleeps by a rate"));
}

struct Instances final : Observer {
  std::vector<CallbackInstance> instances;
  std::vector<Publication> publications;
  void on_instance(const Database&, const CallbackInstance& instance) override {
    instances.push_back(instance);
  }
  void on_publication(const Database&, const Publication& publication) override {
    publications.push_back(publication);
  }
};

/// A node whose thread belongs to no executor.
class Threads : public testing::Test {
 protected:
  Scenario scenario;
  Program program = scenario.program(1);
  std::uint64_t node = scenario.node(program, "driver");
  test::Publisher frames = scenario.publisher(program, node, "/frames");
  test::Publisher log = scenario.publisher(program, node, "/rosout");
  Instances seen;
  std::unique_ptr<Interpreter> interpreter;

  void run() {
    interpreter = std::make_unique<Interpreter>(scenario.threads());
    interpreter->add(seen);
    execution::run(scenario, *interpreter, {});
  }
  void cpu(const Program& thread, std::int64_t microseconds) {
    scenario.add(thread, tracepoints::ThreadCpuTime{.cpu_time = microseconds * 1000});
  }
  void publish(const Program& thread, std::int64_t time, std::int64_t stamp) {
    scenario.now = time;
    scenario.publish(thread, frames, stamp);
  }
  void sleep(const Program& thread, std::int64_t time, milliseconds period) {
    scenario.now = time;
    scenario.add(thread, tracepoints::RateSleep{.period = Duration(period).count()});
  }
  void wake(const Program& thread, std::int64_t time) {
    scenario.now = time;
    scenario.add(thread, tracepoints::RateWakeup{});
  }
  const Objects& objects() { return interpreter->database().objects(); }
  ThreadClass thread_class(const Program& thread) {
    return value_at(interpreter->database().thread_histories(), thread.thread).now();
  }
  std::vector<std::string> ids() { return callback_ids(objects()); }
};

TEST_F(Threads, EachPublicationOfADriverEndsAnInstanceAndBeginsTheNext) {
  publish(program, 0, 1);
  publish(program, 10'000, 2);
  publish(program, 30'000, 3);
  run();
  EXPECT_EQ(thread_class(program), data_driven);
  EXPECT_THAT(ids(), ElementsAre("/driver:/frames:source"));
  ASSERT_THAT(seen.instances, SizeIs(2));
  // Without a processor clock an instance may have run all the time.
  EXPECT_EQ(seen.instances[1].start, Instant(milliseconds(10)));
  EXPECT_EQ(seen.instances[1].end, Instant(milliseconds(30)));
  EXPECT_EQ(seen.instances[1].cpu_time, std::nullopt);
  ASSERT_THAT(seen.publications, SizeIs(3));
  EXPECT_EQ(seen.publications[0].instance, InstanceId::none);
  EXPECT_EQ(seen.publications[1].instance, seen.instances[0].id);
  EXPECT_EQ(seen.publications[2].instance, seen.instances[1].id);
}

TEST_F(Threads, TheProcessorClockTellsWhatADriverNeeds) {
  cpu(program, 100);
  publish(program, 0, 1);
  scenario.now = 20'000;
  cpu(program, 900);
  publish(program, 20'000, 2);
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].cpu_time, std::chrono::microseconds(800));
  EXPECT_EQ(seen.instances[0].start, Instant(std::chrono::microseconds(19'200)));
}

TEST_F(Threads, LogMessagesMakeNoDriver) {
  scenario.publish(program, log, 1);
  scenario.publish(program, log, 2);
  run();
  EXPECT_EQ(thread_class(program), unknown);
  EXPECT_THAT(seen.instances, IsEmpty());
}

TEST_F(Threads, ARateMakesInstancesFromWakingToSleeping) {
  publish(program, 0, 1);
  sleep(program, 1'000, milliseconds(100));  // what came before set things up
  for (std::int64_t i = 1; i <= 3; ++i) {
    wake(program, 100'000 * i);
    cpu(program, 1'000 * i);
    publish(program, 100'000 * i + 500, 1 + i);
    scenario.now = 100'000 * i + 2'000;
    cpu(program, 1'000 * i + 700);
    sleep(program, 100'000 * i + 2'000, milliseconds(100));
  }
  run();
  EXPECT_EQ(thread_class(program), periodic);
  EXPECT_THAT(ids(), ElementsAre("/driver:/frames:source", "/driver:rate-100ms"));
  ASSERT_THAT(seen.instances, SizeIs(3));
  EXPECT_EQ(seen.instances[0].start, Instant(milliseconds(100)));
  EXPECT_EQ(seen.instances[0].end, Instant(milliseconds(102)));
  EXPECT_EQ(seen.instances[0].cpu_time, std::chrono::microseconds(700));
  EXPECT_EQ(seen.publications[1].instance, seen.instances[0].id);
  EXPECT_EQ(seen.publications[1].callback, seen.instances[0].callback);
}

TEST_F(Threads, ARateBelongsToTheNodeThatPublishesLater) {
  for (std::int64_t i = 0; i <= 5; ++i) {
    if (i > 0) wake(program, 100'000 * i);
    if (i > 3) publish(program, 100'000 * i + 500, i);
    sleep(program, 100'000 * i + 2'000, milliseconds(100));
  }
  run();
  EXPECT_THAT(ids(), ElementsAre("/driver:rate-100ms"));
  EXPECT_THAT(seen.instances, SizeIs(5));
  EXPECT_EQ(seen.publications.back().callback, seen.instances.front().callback);
}

TEST_F(Threads, TheEndOfARateEndsTheInstance) {
  sleep(program, 0, milliseconds(10));
  wake(program, 10'000);
  scenario.now = 11'000;
  scenario.add(program, tracepoints::RateStop{});
  run();
  ASSERT_THAT(seen.instances, SizeIs(1));
  EXPECT_EQ(seen.instances[0].end, Instant(milliseconds(11)));
  EXPECT_EQ(thread_class(program), unknown);
}

TEST_F(Threads, ThreadsOneAfterTheOtherAreOneSource) {
  // As the goals of an action: each has a thread of its own.
  for (std::int64_t goal = 0; goal < 5; ++goal) {
    const Program thread = scenario.worker(program, 100 + goal);
    const std::int64_t begin = 1'000'000 * goal;
    publish(thread, begin, 10 * goal + 1);
    sleep(thread, begin + 1'000, milliseconds(100));
    wake(thread, begin + 100'000);
    publish(thread, begin + 100'500, 10 * goal + 2);
    sleep(thread, begin + 101'000, milliseconds(100));
  }
  run();
  EXPECT_THAT(ids(), ElementsAre("/driver:/frames:source", "/driver:rate-100ms"));
  EXPECT_THAT(seen.instances, SizeIs(5));
}

TEST_F(Threads, ThreadsAtTheSameTimeAreSeveralSources) {
  const Program other = scenario.worker(program, 2);
  for (std::int64_t i = 0; i < 4; ++i) {
    publish(program, 10'000 * i, 2 * i);
    publish(other, 10'000 * i + 5'000, 2 * i + 1);
  }
  run();
  EXPECT_THAT(ids(), ElementsAre("/driver:/frames:source", "/driver:/frames:source#2"));
  EXPECT_THAT(seen.instances, SizeIs(6));
}

TEST_F(Threads, AnExecutorThatSpinsForLimitedTimesIsUnclassifiable) {
  const std::uint64_t timer = scenario.timer(program, node, milliseconds(10));
  scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = 0});
  scenario.add(program, tracepoints::RclcppExecutorGetNextReady{});
  scenario.run(program, timer, 100);
  publish(program, 1'000, 1);
  run();
  EXPECT_EQ(thread_class(program), unclassifiable);
  // The messages that it sends outside of callbacks come from a sender of unknown timing.
  EXPECT_THAT(ids(), ElementsAre("/driver:timer-10ms", "/driver:/frames:sender"));
  ASSERT_THAT(seen.instances, SizeIs(2));
  EXPECT_EQ(seen.instances[1].start, seen.instances[1].end);
}

TEST_F(Threads, AnEndlessSpinAfterwardsMakesItAnExecutor) {
  scenario.add(program, tracepoints::LimitedSpin{.begins = true});
  scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  scenario.add(program, tracepoints::LimitedSpin{.begins = false});
  run();
  EXPECT_EQ(thread_class(program), unclassifiable);
  scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  scenario.rewind();
  run();
  EXPECT_EQ(thread_class(program), ThreadClass::executor);
}

TEST_F(Threads, AnExecutorWhoseCallbackSpinsStaysUnclassifiable) {
  const std::uint64_t timer = scenario.timer(program, node, milliseconds(10));
  const auto wait = [&] {
    scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  };
  wait();
  scenario.start(program, timer);
  scenario.add(program, tracepoints::LimitedSpin{.begins = true});
  wait();
  scenario.add(program, tracepoints::LimitedSpin{.begins = false});
  scenario.end(program, timer);
  wait();  // of the spin that goes on all the time
  run();
  EXPECT_EQ(thread_class(program), unclassifiable);
}

TEST_F(Threads, ACallbackThatSleepsByARateMakesItsExecutorUnclassifiable) {
  const std::uint64_t timer = scenario.timer(program, node, milliseconds(10));
  scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  scenario.start(program, timer);
  sleep(program, 1'000, milliseconds(10));
  wake(program, 2'000);
  scenario.end(program, timer);
  scenario.add(program, tracepoints::RclcppExecutorWaitForWork{.timeout = -1});
  run();
  EXPECT_EQ(thread_class(program), unclassifiable);
}

TEST_F(Threads, WhatSurroundsTheSystemIsNoSource) {
  scenario.leave_out(program);
  publish(program, 0, 1);
  publish(program, 1, 2);
  run();
  EXPECT_THAT(ids(), IsEmpty());
  EXPECT_THAT(seen.instances, IsEmpty());
}

TEST_F(Threads, AWaitablesInstancesComeFromWhatTriggeredIt) {
  const std::uint64_t timer = scenario.timer(program, node, milliseconds(10));
  const std::uint64_t waitable = program.handle();
  scenario.add(program, tracepoints::CallbackInit{
                            .callback = waitable, .node_handle = node, .kind = "waitable"});
  scenario.add(program, tracepoints::RclcppCallbackRegister{.callback = waitable, .symbol = "log"});
  for (int i = 0; i < 2; ++i) {
    scenario.start(program, timer);
    scenario.add(program, tracepoints::WaitableTriggered{.callback = waitable});
    scenario.end(program, timer);
  }
  scenario.run(program, waitable, 100);
  scenario.run(program, waitable, 100);
  run();
  EXPECT_THAT(ids(), ElementsAre("/driver:timer-10ms", "/driver:waitable"));
  ASSERT_THAT(seen.instances, SizeIs(4));
  ASSERT_THAT(seen.publications, SizeIs(2));
  EXPECT_EQ(seen.instances[2].source, seen.publications[0].id);
  EXPECT_EQ(seen.instances[3].source, seen.publications[1].id);
  EXPECT_EQ(seen.publications[0].instance, seen.instances[0].id);
}

TEST_F(Threads, WhatTriggersAWaitableOutsideOfCallbacksMayBeANewSource) {
  // The callback of the source is the first, second … ninth: at some of them all others are moved.
  for (std::size_t others = 0; others < 8; ++others) {
    const std::uint64_t waitable = program.handle();
    scenario.add(program, tracepoints::CallbackInit{
                              .callback = waitable, .node_handle = node, .kind = "waitable"});
    const Program thread = scenario.worker(program, 100 + static_cast<std::int64_t>(others));
    scenario.add(thread, tracepoints::RclcppExecutorWaitForWork{.timeout = 0});
    scenario.add(thread, tracepoints::RclcppExecutorGetNextReady{});
    scenario.add(thread, tracepoints::WaitableTriggered{.callback = waitable});
    scenario.run(thread, waitable, 100);
  }
  run();
  ASSERT_THAT(seen.publications, SizeIs(8));
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(seen.instances[2 * i + 1].source, seen.publications[i].id) << i;
  }
}

}  // namespace
}  // namespace takt::execution
