#include "takt/execution/timed_publications.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {
namespace {

using namespace std::chrono_literals;

constexpr Duration epoch = 1'700'000'000s;

Publication publication(std::size_t thread, Instant begin) {
  Publication made;
  made.topic = TopicIndex(0);
  made.thread = ThreadIndex(thread);
  made.begin = made.sent = begin;
  return made;
}

std::int64_t stamp(Instant time) { return (time.time_since_epoch() + epoch).count(); }

TEST(TimedPublications, ATimestampNamesThePublicationWhoseCallItLiesIn) {
  TimedPublications timed;
  timed.set_epoch(epoch);
  const Instant begin(1s);
  timed.add(publication(0, begin), PublicationId(1));
  timed.note(ThreadIndex(0), begin + 20us);
  timed.add(publication(0, begin + 100ms), PublicationId(2));
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 10us)).newest, PublicationId(1));
  // Another subscription takes the same message, and then the next one, whose call goes on.
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 10us)).newest, PublicationId(1));
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 100ms + 5us)).newest, PublicationId(2));
  EXPECT_EQ(timed.find(TopicIndex(1), stamp(begin + 10us)).count, 0u);
}

TEST(TimedPublications, TwoCallsAtTheSameTimeAreToldApartOnlyWhereTheyDoNotOverlap) {
  TimedPublications timed;
  timed.set_epoch(epoch);
  const Instant begin(1s);
  timed.add(publication(0, begin), PublicationId(1));
  timed.add(publication(1, begin + 10us), PublicationId(2));
  timed.note(ThreadIndex(0), begin + 30us);
  timed.note(ThreadIndex(1), begin + 50us);
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 20us)).count, MessageIndex::several);
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 40us)).newest, PublicationId(2));
  // Now the other one is left alone.
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 20us)).newest, PublicationId(1));
}

/// A callback sends three messages one right after the other, and a queue of two loses the first.
TEST(TimedPublications, CallsOfOneThreadFollowEachOther) {
  TimedPublications timed;
  timed.set_epoch(epoch);
  const Instant begin(1s);
  for (int i = 0; i < 3; ++i) {
    timed.note(ThreadIndex(0), begin + i * 5us);
    timed.add(publication(0, begin + i * 5us), PublicationId(i + 1));
  }
  timed.note(ThreadIndex(0), begin + 15us);
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 6us)).newest, PublicationId(2));
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 11us)).newest, PublicationId(3));
}

TEST(TimedPublications, AClockThatWasSetNamesNothing) {
  TimedPublications timed;
  timed.set_epoch(epoch);
  const Instant begin(1s);
  timed.add(publication(0, begin), PublicationId(1));
  timed.note(ThreadIndex(0), begin + 20us);
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin + 2ms)).count, 0u);
  EXPECT_EQ(timed.find(TopicIndex(0), stamp(begin - 2ms)).count, 0u);
}

/// Publishers that know nothing of each other, messages that are lost, and subscribers that take
/// late and twice: whatever is found is right.
TEST(TimedPublications, WhatIsFoundIsRight) {
  std::mt19937_64 random(5);
  const auto uniform = [&random](std::int64_t most) {
    return Duration(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)));
  };
  struct Sent {
    Instant time;
    std::size_t thread = 0;
    std::int64_t stamp = 0;
    Instant end;
  };
  std::size_t found = 0;
  std::size_t all = 0;
  for (int run = 0; run < 50; ++run) {
    std::vector<Sent> messages;
    for (std::size_t thread = 0; thread < 4; ++thread) {
      Instant now(1s);
      for (int i = 0; i < 100; ++i) {
        now += 200us + uniform(20'000'000);
        const Duration call = 5us + uniform(run % 2 == 0 ? 20'000 : 2'000'000);
        messages.push_back({now, thread, stamp(now + uniform(call.count())), now + call});
        now += call;
      }
    }
    // Events and takes in the order of time: a message is taken twice, after its call has begun.
    struct Step {
      Instant time;
      std::size_t message = 0;
      int kind = 0;
    };
    std::vector<Step> steps;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Sent& sent = messages[i];
      steps.push_back({sent.time, i, 0});
      steps.push_back({sent.end, i, 1});
      const Instant taken(Duration(sent.stamp) - epoch);
      if (random() % 10 != 0) {
        steps.push_back({taken + uniform(300'000), i, 2});
        steps.push_back({taken + uniform(30'000'000), i, 2});
      }
    }
    std::ranges::stable_sort(steps, {}, &Step::time);
    TimedPublications timed;
    timed.set_epoch(epoch);
    for (const Step& step : steps) {
      const Sent& sent = messages[step.message];
      if (step.kind == 0) {
        timed.add(publication(sent.thread, sent.time), PublicationId(step.message + 1));
      } else if (step.kind == 1) {
        timed.note(ThreadIndex(sent.thread), sent.end);
      } else {
        const auto matches = timed.find(TopicIndex(0), sent.stamp);
        ++all;
        if (matches.count != 1) continue;
        ++found;
        ASSERT_EQ(matches.newest, PublicationId(step.message + 1));
      }
    }
  }
  EXPECT_GT(found, all * 8 / 10);
}

/// Humble's rmw_publish names neither the publisher nor a time.
TEST(TimedPublications, AnExecutionOfHumbleHasItsLinks) {
  test::Scenario scenario;
  auto program = scenario.program(1);
  const auto node = scenario.node(program, "n");
  const auto publisher = scenario.publisher(program, node, "/a");
  const auto subscription = scenario.subscription(program, node, "/a");
  for (std::int64_t i = 0; i < 3; ++i) {
    scenario.now += 1000;
    scenario.add(program, tracepoints::RclcppPublish{.message = 0x99});
    scenario.add(program,
                 tracepoints::RclPublish{.publisher_handle = publisher.handle, .message = 0x99});
    scenario.now += 1;
    scenario.add(program, tracepoints::RmwPublish{.rmw_publisher_handle = 0, .message = 0x99});
    const std::int64_t sent = 1000 * (scenario.now + 1);
    scenario.now += 10;
    scenario.handle(program, subscription, sent, 1);
  }
  // The middleware publishes for itself, too.
  scenario.add(program, tracepoints::RmwPublish{.rmw_publisher_handle = 0, .message = 0x77});
  Interpreter interpreter(scenario.threads());
  execution::run(scenario, interpreter, {});
  const Anomalies& anomalies = interpreter.database().anomalies();
  EXPECT_EQ(anomalies.takes_matched_by_time, 3u);
  EXPECT_EQ(anomalies.takes_without_publication, 0u);
  EXPECT_EQ(anomalies.unknown_publications, 0u);
}

}  // namespace
}  // namespace takt::execution
