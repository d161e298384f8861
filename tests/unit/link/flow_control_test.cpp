#include "takt/link/flow_control.hpp"

#include <gmock/gmock.h>

#include "simulated_host.hpp"

namespace takt::link {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(FlowControl, AnActivationTooMuchDropsTheOldestThatWaits) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex channel = description.add(ChannelDescription{.slots = 8, .bytes = 100});
  const TaskIndex task = description.add({.name = "latest two",
                                          .inputs = {OnData{channel}},
                                          .samples = {},
                                          .operation = Send{.stream = 1, .peer = {}},
                                          .depth = 2});
  SimulatedHost host(description);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(host.push(channel, 100, i));
  host.run(1000);
  const TaskCounts& counts = host.flow->counts(task);
  EXPECT_EQ(counts.activations, 5u);
  EXPECT_EQ(counts.delivered, 3u);  // the one on the link and the newest two
  EXPECT_EQ(counts.dropped, 2u);
  EXPECT_EQ(host.flow->free_slots(channel), 7u);  // all but the newest, which can be sampled
}

TEST(FlowControl, WhatHasBegunTakesNoPlaceOfThoseThatWait) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex large = add_sender(description, 0, 1, 300, 8);
  const ChannelIndex urgent = add_sender(description, 1, 2, 100, 8);
  description.tasks[0].depth = 1;
  SimulatedHost host(description);
  ASSERT_TRUE(host.push(large, 300, 0));
  // After its first chunk the large message waits for this one.
  ASSERT_TRUE(host.push(urgent, 100, 50));
  ASSERT_TRUE(host.push(large, 200, 150));
  ASSERT_TRUE(host.push(large, 100, 160));
  host.run(1000);
  const TaskCounts& counts = host.flow->counts(TaskIndex(0));
  EXPECT_EQ(counts.dropped, 1u) << "of those that wait, the newest stays";
  EXPECT_EQ(counts.delivered, 2u);
  EXPECT_EQ(host.link.carried.back().chunk.message_bytes, 100u);
}

TEST(FlowControl, WhoPushesMaySendTheMostUrgentMessageAtOnceAndNothingElse) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex large = add_sender(description, 0, 1, 300);
  const ChannelIndex urgent = add_sender(description, 1, 2, 100);
  int begun = 0;
  int called = 0;
  std::get<Send>(description.tasks[1].operation).begins = [&](auto message) {
    EXPECT_EQ(message.size(), 100u);
    ++begun;
  };
  description.add({.name = "call", .inputs = {OnData{urgent}}, .operation = Call{[&](auto&) {
                                                                 ++called;
                                                                 return true;
                                                               }}});
  SimulatedHost host(description);
  ASSERT_TRUE(host.push(large, 300, 0));
  ASSERT_TRUE(host.push(urgent, 100, 0));
  host.flow->send_next(at(0));
  EXPECT_THAT(host.streams(), ElementsAre(2)) << "the more urgent one, though it came later";
  host.flow->send_next(at(0));
  EXPECT_THAT(host.streams(), ElementsAre(2)) << "the link is busy";
  EXPECT_EQ(begun, 1);
  EXPECT_EQ(called, 0);
  host.run(1000);
  EXPECT_THAT(host.streams(), ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(begun, 1) << "once a message";
  EXPECT_EQ(called, 1);
}

TEST(FlowControl, AMessageWithoutAFreeSlotIsNotTaken) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex channel = add_sender(description, 0, 1, 100, 2);
  SimulatedHost host(description);
  EXPECT_TRUE(host.push(channel, 100, 0));
  EXPECT_TRUE(host.push(channel, 100, 0));
  EXPECT_FALSE(host.push(channel, 100, 0));
  host.run(1000);
  EXPECT_TRUE(host.push(channel, 100, 1000));
  EXPECT_FALSE(host.push(channel, 101, 1000)) << "longer than a slot";
}

TEST(FlowControl, ATimerThatNobodyServedSkipsPeriods) {
  Description description{.chunk_bytes = 100};
  int runs = 0;
  const TaskIndex task = description.add({.name = "periodic",
                                          .inputs = {OnTimer{.period = Duration{10}, .first = {}}},
                                          .samples = {},
                                          .operation = Call{[&](const Activation&) {
                                            ++runs;
                                            return true;
                                          }}});
  SimulatedHost host(description);
  EXPECT_EQ(host.flow->step(at(0)), at(10));
  EXPECT_EQ(host.flow->step(at(35)), at(40));
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(host.flow->counts(task).missed_periods, 2u);
}

TEST(FlowControl, AnEmptyMessageIsAMessage) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex channel = add_sender(description, 0, 1);
  SimulatedHost host(description, Duration{1});
  ASSERT_TRUE(host.push(channel, 0, 0));
  host.run(10);
  ASSERT_EQ(host.link.carried.size(), 1u);
  EXPECT_EQ(host.link.carried[0].chunk, (Chunk{.stream = 1, .message = 1}));
}

TEST(FlowControl, WhatWasDeliveredIsNotDeliveredAgain) {
  Description receiving{.chunk_bytes = 100};
  const ChannelIndex arrived = receiving.add(ChannelDescription{.slots = 4, .bytes = 100});
  receiving.receives.push_back({.peer = {}, .stream = 1, .channel = arrived});
  SimulatedHost receiver(receiving);
  Sink& sink = receiver.flow->sink({});
  const Chunk first{.stream = 1, .message = 1, .message_bytes = 4, .offset = 0, .bytes = 4};
  ASSERT_EQ(sink.place(first).kind, Sink::Placement::Kind::accepted);
  sink.arrived(first, at(1));
  EXPECT_EQ(sink.place(first).kind, Sink::Placement::Kind::duplicate);
  Chunk third = first;
  third.message = 3;
  ASSERT_EQ(sink.place(third).kind, Sink::Placement::Kind::accepted);
  sink.arrived(third, at(2));
  Chunk late = first;
  late.message = 2;
  EXPECT_EQ(sink.place(late).kind, Sink::Placement::Kind::rejected) << "out of order";
  const Inbox::Counts& counts = receiver.flow->received({});
  EXPECT_EQ(counts.messages, 2u);
  EXPECT_EQ(counts.missing, 1u);
  EXPECT_EQ(counts.rejected, 1u);
  sink.restarted();
  EXPECT_EQ(sink.place(first).kind, Sink::Placement::Kind::accepted) << "another process's first";
}

TEST(FlowControl, PiecesThatDoNotFitTogetherAreRejected) {
  Description receiving{.chunk_bytes = 100};
  const ChannelIndex arrived = receiving.add(ChannelDescription{.slots = 4, .bytes = 100});
  receiving.receives.push_back({.peer = {}, .stream = 1, .channel = arrived});
  SimulatedHost receiver(receiving);
  Sink& sink = receiver.flow->sink({});
  using Kind = Sink::Placement::Kind;
  const Chunk first{.stream = 1, .message = 1, .message_bytes = 100, .offset = 0, .bytes = 50};
  const auto placed = [&](auto change) {
    Chunk chunk = first;
    change(chunk);
    return sink.place(chunk).kind;
  };
  EXPECT_EQ(placed([](Chunk& c) { c.stream = 2; }), Kind::rejected);
  EXPECT_EQ(placed([](Chunk& c) { c.message = 0; }), Kind::rejected);
  EXPECT_EQ(placed([](Chunk& c) { c.message_bytes = 101; }), Kind::rejected)
      << "longer than a slot";
  EXPECT_EQ(placed([](Chunk& c) { c.bytes = 101; }), Kind::rejected);
  EXPECT_EQ(placed([](Chunk& c) { c.bytes = 0; }), Kind::rejected) << "never ends";
  EXPECT_EQ(placed([](Chunk& c) { c.offset = 50; }), Kind::rejected) << "without a beginning";
  EXPECT_EQ(placed([](Chunk& c) { c.offset = ~0U; }), Kind::rejected);
  ASSERT_EQ(placed([](Chunk&) {}), Kind::accepted);
  sink.arrived(first, at(1));
  EXPECT_EQ(placed([](Chunk& c) { c.offset = 51, c.bytes = 49; }), Kind::rejected) << "a gap";
  EXPECT_EQ(placed([](Chunk& c) { c.offset = 50, c.message = 2; }), Kind::rejected);
  EXPECT_EQ(placed([](Chunk& c) { c.offset = 50; }), Kind::accepted);
  EXPECT_EQ(receiver.flow->free_slots(arrived), 3u);
  EXPECT_EQ(placed([](Chunk& c) { c.message = 2; }), Kind::accepted) << "the first was given up";
  EXPECT_EQ(receiver.flow->received({}).abandoned, 1u);
  EXPECT_EQ(receiver.flow->free_slots(arrived), 3u);
}

ChannelIndex add_waiting_sender(Description& description, std::uint32_t stream, std::size_t depth) {
  const ChannelIndex channel = add_sender(description, 1, stream, 1000, depth + 2);
  description.tasks.back().operation = Send{.stream = stream, .peer = {}, .waits = true};
  description.tasks.back().depth = depth;
  return channel;
}

TEST(FlowControl, MessagesWaitForAPeerThatCannotBeReached) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex patient = add_waiting_sender(description, 1, 3);
  const ChannelIndex other = add_sender(description, 0, 2);
  SimulatedHost host(description);
  host.link.up = false;
  host.link.outcome = [&](std::size_t) {
    return host.link.up ? Outcome::delivered : Outcome::lost;
  };
  for (std::int64_t when = 1; when <= 5; ++when) ASSERT_TRUE(host.push(patient, 100, when));
  ASSERT_TRUE(host.push(other, 100, 6));
  host.run(1000);
  EXPECT_THAT(host.streams(), testing::ElementsAre(2)) << "the others are lost, and hear of it";
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).dropped, 2U) << "the oldest give way";
  EXPECT_EQ(host.flow->counts(TaskIndex(1)).lost, 1U);

  host.link.up = true;
  host.run(2000);
  EXPECT_THAT(host.streams(), testing::ElementsAre(2, 1, 1, 1));
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).delivered, 3U);
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).lost, 0U);
}

TEST(FlowControl, WhatWasUnderWayBeginsAnew) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex patient = add_waiting_sender(description, 1, 3);
  SimulatedHost host(description);
  host.link.outcome = [&](std::size_t n) {
    if (n == 1) host.link.up = false;
    return n == 1 ? Outcome::lost : Outcome::delivered;
  };
  ASSERT_TRUE(host.push(patient, 250, 1));
  host.run(1000);
  ASSERT_EQ(host.link.carried.size(), 2U);
  host.link.up = true;
  host.run(2000);
  ASSERT_EQ(host.link.carried.size(), 5U);
  for (std::size_t n = 0; n < 3; ++n) {
    const Chunk& chunk = host.link.carried[2 + n].chunk;
    EXPECT_EQ(chunk.offset, 100 * n);
    EXPECT_EQ(chunk.message, 1U) << "the same message, so that it is not delivered twice";
  }
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).resumed, 1U);
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).delivered, 1U);
}

TEST(FlowControl, WhoFollowsAMessageThatHadBegunIsToldThatItIsDropped) {
  Description description{.chunk_bytes = 100};
  const ChannelIndex patient = add_waiting_sender(description, 1, 1);
  std::vector<Outcome> ends;
  description.add({.name = "follower",
                   .inputs = {OnEnd{TaskIndex(0)}},
                   .operation = Call{[&](const Activation& activation) {
                     ends.push_back(*activation.outcome);
                     EXPECT_EQ(activation.message.size(), 250U);
                     return true;
                   }}});
  SimulatedHost host(description);
  host.link.outcome = [&](std::size_t n) {
    if (n == 1) host.link.up = false;
    return n == 1 ? Outcome::lost : Outcome::delivered;
  };
  ASSERT_TRUE(host.push(patient, 250, 1));
  host.run(1000);
  ASSERT_TRUE(host.push(patient, 100, 1000));
  host.run(1100);
  EXPECT_THAT(ends, ElementsAre(Outcome::dropped));
  ASSERT_TRUE(host.push(patient, 100, 1100));
  host.run(1200);
  EXPECT_THAT(ends, ElementsAre(Outcome::dropped)) << "the second one had not begun";
  EXPECT_EQ(host.flow->counts(TaskIndex(0)).dropped, 2U);
}

TEST(FlowControl, NothingIsMissingBeforeTheFirstMessageThatComes) {
  Description receiving{.chunk_bytes = 100};
  const ChannelIndex arrived = receiving.add(ChannelDescription{.slots = 4, .bytes = 100});
  receiving.receives.push_back({.peer = {}, .stream = 1, .channel = arrived});
  SimulatedHost receiver(receiving);
  Sink& sink = receiver.flow->sink({});
  const Inbox::Counts& counts = receiver.flow->received({});
  const auto arrives = [&](std::uint64_t message, std::uint32_t bytes = 4) {
    const Chunk chunk{
        .stream = 1, .message = message, .message_bytes = 4, .offset = 0, .bytes = bytes};
    ASSERT_EQ(sink.place(chunk).kind, Sink::Placement::Kind::accepted);
    sink.arrived(chunk, at(1));
  };
  arrives(500);
  EXPECT_EQ(counts.missing, 0u) << "the sender began earlier";
  arrives(502);
  EXPECT_EQ(counts.missing, 1u);
  arrives(503, 2);
  sink.restarted();
  EXPECT_EQ(counts.abandoned, 1u) << "its sender is gone";
  arrives(3);
  EXPECT_EQ(counts.missing, 1u);
}

TEST(FlowControl, MistakesAreNamed) {
  const auto message = [](auto change) {
    Description description{.chunk_bytes = 100};
    add_sender(description, 0, 1);
    add_sender(description, 0, 2);
    change(description);
    const auto checked = check(description, 1);
    return checked ? std::string("fine") : checked.error().message;
  };
  EXPECT_EQ(message([](Description&) {}), "fine");
  EXPECT_THAT(message([](Description& d) { d.chunk_bytes = 0; }), HasSubstr("chunk_bytes"));
  EXPECT_THAT(message([](Description& d) { d.channels[1].slots = 0; }), HasSubstr("channel 1"));
  EXPECT_THAT(message([](Description& d) { d.channels[1].bytes = 0; }), HasSubstr("channel 1"));
  EXPECT_THAT(message([](Description& d) { d.tasks[1].operation = Send{.stream = 1, .peer = {}}; }),
              HasSubstr("'sender 2' sends a stream that another task sends already"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].inputs = {OnTimer{.period = Duration{1}}}; }),
              HasSubstr("without a message"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].inputs = {OnTimer{}}; }),
              HasSubstr("period"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].inputs = {}; }), HasSubstr("no input"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].inputs = {OnEnd{TaskIndex(7)}}; }),
              HasSubstr("task that does not exist"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].depth = 0; }), HasSubstr("depth"));
  EXPECT_THAT(message([](Description& d) { d.tasks[0].operation = Call{}; }),
              HasSubstr("calls nothing"));
  EXPECT_THAT(message([](Description& d) {
                d.tasks[0].inputs = {OnTimeout{.task = TaskIndex(1), .after = Duration{1}}};
                d.tasks[1].inputs = d.tasks[0].inputs;
              }),
              HasSubstr("times out already"));
}

}  // namespace
}  // namespace takt::link
