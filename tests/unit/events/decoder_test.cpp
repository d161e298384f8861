#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "takt/events/event_stream.hpp"
#include "takt/events/schema.hpp"
#include "trace_writer.hpp"

/// Our decoder on generated traces: against what was written, and against libbabeltrace2.
namespace takt::events {
namespace {

using test::Bits;
using test::Scratch;
using test::TraceWriter;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const char* const handle = "integer { size = 64; align = 8; signed = 0; base = 16; } ";
const char* const int_32 = "integer { size = 32; align = 8; signed = 1; } ";
const char* const int_64 = "integer { size = 64; align = 8; signed = 1; } ";

struct Seen {
  std::vector<Event> events;
  std::vector<Payload> payloads;  // one for each event
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t, std::string>> threads;
  StreamLosses losses;
  std::map<std::string, std::uint64_t> counts;
  std::string error;
};

Seen read(const std::vector<std::filesystem::path>& paths, Decoder decoder) {
  Seen seen;
  const auto source = open(paths, {.decoder = decoder});
  if (!source) {
    seen.error = source.error().message;
    return seen;
  }
  Batch batch;
  while ((*source)->read(batch)) {
    for (const Event& event : batch.events) {
      seen.events.push_back(event);
      seen.payloads.push_back(event.payload == no_payload ? Payload() : batch.payload(event));
      const Threads& threads = (*source)->threads();
      const Thread& thread = threads[event.thread];
      const Process& process = threads[thread.process];
      seen.threads.emplace_back(threads[process.host].name, process.id, thread.id, thread.name);
    }
  }
  seen.losses = (*source)->losses();
  seen.counts = (*source)->counts();
  return seen;
}

/// Reads with both decoders and expects the same.
Seen read_both(const std::filesystem::path& trace) {
  const std::vector paths{trace};
  Seen own = read(paths, Decoder::own);
  const Seen oracle = read(paths, Decoder::babeltrace);
  EXPECT_EQ(own.error, "");
  EXPECT_EQ(oracle.error, "");
  EXPECT_EQ(own.counts, oracle.counts);
  EXPECT_EQ(own.losses.cut_elements, oracle.losses.cut_elements);
  EXPECT_EQ(own.threads, oracle.threads);
  EXPECT_EQ(own.events.size(), oracle.events.size());
  for (std::size_t i = 0; i < std::min(own.events.size(), oracle.events.size()); ++i) {
    EXPECT_EQ(own.events[i].time, oracle.events[i].time) << i;
    EXPECT_EQ(own.events[i].type, oracle.events[i].type) << i;
    EXPECT_EQ(own.events[i].cpu, oracle.events[i].cpu) << i;
    EXPECT_EQ(own.events[i].values, oracle.events[i].values) << i;
    EXPECT_EQ(own.payloads[i].texts, oracle.payloads[i].texts) << i;
    EXPECT_EQ(own.payloads[i].lists, oracle.payloads[i].lists) << i;
  }
  return own;
}

Seen read_both(const Scratch& scratch) { return read_both(scratch.path() / "trace"); }

class DecoderTest : public testing::Test {
 protected:
  Scratch scratch;
};

TEST_F(DecoderTest, FixedEventsWithContexts) {
  TraceWriter writer;
  const auto start = writer.declare(
      "ros2:callback_start", std::string(handle) + "_callback; " + int_32 + "_is_intra_process;");
  Bits content;
  writer.header(content, start, 1000);
  TraceWriter::add_context(content, 7, 8, "planner");
  content.add(0xdeadbeefcafe, 64).add(static_cast<std::uint32_t>(-1), 32);
  writer.write(scratch, {TraceWriter::packet({.begin = 1000, .end = 1000, .cpu = 3}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(1));
  EXPECT_EQ(seen.events[0].type, EventType::callback_start);
  EXPECT_EQ(seen.events[0].time, Instant(Duration(1000)));
  EXPECT_EQ(seen.events[0].cpu, 3);
  EXPECT_EQ(seen.events[0].values[0], 0xdeadbeefcafe);
  EXPECT_EQ(static_cast<std::int64_t>(seen.events[0].values[1]), -1);
  EXPECT_EQ(seen.threads[0], std::tuple("robot", 7, 8, "planner"));
}

class HeaderTest : public testing::TestWithParam<TraceWriter::Header> {
 protected:
  Scratch scratch;
};

TEST_P(HeaderTest, ClockWrapsAndExtendedHeadersAreFollowed) {
  TraceWriter writer(GetParam());
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  const std::vector<std::uint64_t> times{(1ull << 33) - 50, (1ull << 33) - 1,
                                         (1ull << 33) + 5,  (1ull << 33) + 100'000'000,
                                         (1ull << 40) + 3,  (1ull << 40) + 90'000'000};
  Bits content;
  for (const std::uint64_t time : times) {
    writer.header(content, end, time, time == (1ull << 40) + 3);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(time, 64);
  }
  writer.write(scratch,
               {TraceWriter::packet({.begin = times.front(), .end = times.back()}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(times.size()));
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(static_cast<std::uint64_t>(seen.events[i].time.time_since_epoch().count()), times[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HeaderTest,
                         testing::Values(TraceWriter::Header::compact, TraceWriter::Header::large));

TEST_F(DecoderTest, IntegersOfAnySizeAlignmentAndByteOrder) {
  TraceWriter writer;
  const auto odd =
      writer.declare("ros2:rmw_take",
                     "integer { size = 3; align = 1; signed = 0; } _skipped;"
                     "integer { size = 13; align = 1; signed = 1; } _source_timestamp;"
                     "integer { size = 64; align = 64; signed = 0; } _message;"
                     "integer { size = 32; align = 8; signed = 1; byte_order = be; } _taken;"
                     "integer { size = 48; align = 16; signed = 0; } _rmw_subscription_handle;");
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  Bits content;
  const std::uint32_t before_content = 8 * 84;  // 84 bytes of packet header and context
  writer.header(content, odd, 5);
  TraceWriter::add_context(content, 1, 1, "p");
  content.align(8);
  while ((before_content + content.size()) % 64 != 0) {  // the structure's alignment
    content.add(0, 8);
  }
  content.add(5, 3).add(static_cast<std::uint64_t>(-77), 13);
  while ((before_content + content.size()) % 64 != 0) {
    content.add(0, 8);
  }
  content.add(0x123456789abcdef0, 64).byte_swapped(static_cast<std::uint32_t>(-2), 32);
  content.add(0xa1b2c3d4e5f6, 48);
  writer.header(content, end, 6);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(42, 64);
  writer.write(scratch, {TraceWriter::packet({.begin = 5, .end = 6}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(2));
  EXPECT_EQ(seen.events[0].values[0], 0xa1b2c3d4e5f6u);
  EXPECT_EQ(seen.events[0].values[1], 0x123456789abcdef0u);
  EXPECT_EQ(static_cast<std::int64_t>(seen.events[0].values[2]), -77);
  EXPECT_EQ(static_cast<std::int64_t>(seen.events[0].values[3]), -2);
  EXPECT_EQ(seen.events[1].values[0], 42u);
}

TEST_F(DecoderTest, TextsListsAndGids) {
  TraceWriter writer;
  const auto node = writer.declare("ros2:rcl_node_init",
                                   std::string(handle) + "_node_handle; " + handle +
                                       "_rmw_handle; string _node_name; string _namespace;");
  const auto gid = writer.declare("ros2:rmw_publisher_init",
                                  std::string(handle) + "_rmw_publisher_handle; uint8_t _gid[24];");
  const auto link =
      writer.declare("ros2:message_link_partial_sync",
                     std::string("uint32_t __subs_length; ") + handle + "_subs[__subs_length]; " +
                         "uint32_t __pubs_length; " + handle + "_pubs[__pubs_length];");
  Bits content;
  writer.header(content, node, 1);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(1, 64).add(2, 64).text("planner").text("/robot");
  writer.header(content, gid, 2);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(9, 64);
  for (std::uint64_t i = 1; i <= 24; ++i) {
    content.add(i, 8);
  }
  writer.header(content, link, 3);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(2, 32).add(11, 64).add(12, 64).add(0, 32);
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 3}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(3));
  EXPECT_EQ(seen.payloads[0].texts[0], "planner");
  EXPECT_EQ(seen.payloads[0].texts[1], "/robot");
  EXPECT_EQ(seen.events[1].values[1], 0x0102030405060708u);
  EXPECT_EQ(seen.events[1].values[2], 0x090a0b0c0d0e0f10u);
  EXPECT_THAT(seen.payloads[2].lists[0], ElementsAre(11, 12));
  EXPECT_THAT(seen.payloads[2].lists[1], IsEmpty());
}

TEST_F(DecoderTest, UnknownEventsOfAnyShapeAreCountedAndSkipped) {
  TraceWriter writer;
  const auto odd = writer.declare(
      "my:event",
      "enum : uint8_t { a = 0 ... 1, b = 2 } _tag;"
      "variant <_tag> { struct { uint32_t x; string s; } a; uint16_t b; } _choice;"
      "floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } _number;"
      "uint8_t _count; struct { uint16_t y; } _points[_count];"
      "integer { size = 8; align = 8; signed = 1; encoding = UTF8; } _text[_count];");
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  Bits content;
  for (const std::uint64_t tag : {1u, 2u}) {
    writer.header(content, odd, 1);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(tag, 8);
    if (tag == 1) {
      content.add(7, 32).text("hello");
    } else {
      content.add(7, 16);
    }
    content.add(0x3ff0000000000000, 64).add(2, 8).add(1, 16).add(2, 16).add('x', 8).add(0, 8);
    writer.header(content, end, 2);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(tag, 64);
  }
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 2}, content)});
  const Seen seen = read_both(scratch);
  EXPECT_EQ(seen.counts,
            (std::map<std::string, std::uint64_t>{{"my:event", 2}, {"ros2:callback_end", 2}}));
  ASSERT_THAT(seen.events, SizeIs(2));
  EXPECT_EQ(seen.events[1].values[0], 2u);
}

TEST_F(DecoderTest, FieldsThatHumbleLacksAreZeroAndAdditionalOnesAreSkipped) {
  TraceWriter writer;
  const auto publish = writer.declare("ros2:rmw_publish",
                                      std::string(int_64) + "_new_field; " + handle + "_message;");
  Bits content;
  writer.header(content, publish, 1);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(99, 64).add(0xabc, 64);
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 1}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(1));
  EXPECT_THAT(seen.events[0].values, ElementsAre(0, 0xabc, 0, 0, 0, 0));
}

TEST_F(DecoderTest, ProcessBuffersTellTheProcessInTheEnvironment) {
  TraceWriter writer;
  writer.context = "integer { size = 32; align = 8; signed = 1; } _vtid;";
  writer.extra_environment = "vpid = 55; procname = \"camera\";";
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  Bits content;
  writer.header(content, end, 1);
  content.add(56, 32).add(1, 64);
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 1}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.threads, SizeIs(1));
  EXPECT_EQ(seen.threads[0], std::tuple("robot", 55, 56, "camera"));
}

std::string ends_packet(const TraceWriter& writer, std::uint32_t id,
                        const std::vector<std::uint64_t>& times, TraceWriter::PacketInfo info) {
  Bits content;
  for (const std::uint64_t time : times) {
    writer.header(content, id, time);
    TraceWriter::add_context(content, 1, static_cast<std::int32_t>(info.cpu), "p");
    content.add(time, 64);
  }
  info.begin = times.front();
  info.end = times.back();
  return TraceWriter::packet(info, content);
}

TEST_F(DecoderTest, LossesAreCountedByTheTracersCounters) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  writer.write(scratch, {ends_packet(writer, end, {1}, {.sequence = 0, .discarded = 0}) +
                         ends_packet(writer, end, {2}, {.sequence = 1, .discarded = 5}) +
                         ends_packet(writer, end, {3}, {.sequence = 4, .discarded = 9})});
  const Seen seen = read_both(scratch);
  EXPECT_EQ(seen.losses.discarded_events, 9u);
  EXPECT_EQ(seen.losses.discarded_packets, 2u);
  EXPECT_THAT(seen.losses.faults, IsEmpty());
}

TEST_F(DecoderTest, WithoutTheContextsThatTellThreadsApartATraceIsRefused) {
  const std::string of_process = "integer { size = 32; align = 8; signed = 1; } _vpid;";
  for (const auto& [context, missing] :
       {std::pair{std::string(), "vpid, vtid, procname"}, {of_process, "vtid, procname"}}) {
    TraceWriter writer;
    writer.context = context;
    writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
    writer.write(scratch, {});
    const Seen seen = read({scratch.path()}, Decoder::automatic);
    EXPECT_THAT(seen.error, HasSubstr(std::string("without the contexts ") + missing + ","));
    EXPECT_THAT(seen.error, HasSubstr("lttng add-context -u -t vpid -t vtid -t procname"));
  }
}

TEST_F(DecoderTest, PacketsOfSnapshotsThatOverlapAreReadOnce) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  const auto packet = [&](const std::vector<std::uint64_t>& times, std::uint64_t sequence) {
    return ends_packet(writer, end, times, {.sequence = sequence});
  };
  // The first snapshot has packet 2 while it is being filled.
  writer.write(scratch, {packet({1}, 0) + packet({2, 3}, 1) + packet({4}, 2)}, "snapshot-1");
  writer.write(scratch, {packet({2, 3}, 1) + packet({4, 5}, 2) + packet({6}, 3)}, "snapshot-2");
  const Seen seen = read({scratch.path()}, Decoder::own);
  ASSERT_EQ(seen.error, "");
  std::vector<std::uint64_t> times;
  for (const Event& event : seen.events) times.push_back(event.values[0]);
  EXPECT_THAT(times, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(seen.counts.at("ros2:callback_end"), 6u);
  EXPECT_EQ(seen.losses.discarded_packets, 0u);
}

/// Two sessions record the same thread; each lacks some events, and reads the clock for itself.
TEST_F(DecoderTest, EventsOfSeveralSessionsAreDeliveredOnce) {
  std::mt19937 random(3);
  for (const int later : {0, 300}) {  // ns
    std::vector<std::uint64_t> happened;
    std::vector<std::uint64_t> of_session[2];
    for (std::uint64_t i = 0; i < 500; ++i) {
      // Some are alike, as those of a loop are.
      const std::uint64_t time = 1'000'000 + 100'000 * i + random() % 50'000;
      const bool lost[] = {random() % 8 == 0, random() % 8 == 0};
      if (lost[0] && lost[1]) continue;
      happened.push_back(time);
      for (const int session : {0, 1}) {
        if (!lost[session]) {
          of_session[session].push_back(time + static_cast<std::uint64_t>(session * later));
        }
      }
    }
    for (const int session : {0, 1}) {
      TraceWriter writer;
      writer.uuid[0] = session == 0 ? 'a' : 'b';
      const auto next = writer.declare("ros2:rclcpp_executor_get_next_ready", "");
      Bits content;
      for (const std::uint64_t time : of_session[session]) {
        writer.header(content, next, time, true);
        TraceWriter::add_context(content, 1, 1, "p");
      }
      writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 1}, content)},
                   fmt::format("session-{}-{}", later, session));
    }
    const Seen seen = read({scratch.path() / fmt::format("session-{}-0", later),
                            scratch.path() / fmt::format("session-{}-1", later)},
                           Decoder::own);
    ASSERT_EQ(seen.error, "");
    EXPECT_EQ(seen.events.size(), happened.size());
    EXPECT_EQ(seen.counts.at("ros2:rclcpp_executor_get_next_ready"), happened.size());
  }
}

/// One session has buffers for each process, the other one for all; the thread was preempted
/// between them for a while.
TEST_F(DecoderTest, EventsOfASessionForEachProcessAndOneForAllAreDeliveredOnce) {
  const std::vector<std::uint64_t> times[] = {{1'000, 70'000'000, 190'000'000},
                                              {1'300, 120'000'000, 190'000'500}};
  for (const int session : {0, 1}) {
    TraceWriter writer;
    writer.uuid[0] = session == 0 ? 'a' : 'b';
    if (session == 1) writer.extra_environment = "vpid = 1;";
    const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
    Bits content;
    std::uint64_t number = 0;
    for (const std::uint64_t time : times[session]) {
      writer.header(content, end, time, true);
      TraceWriter::add_context(content, 1, 1, "p");
      content.add(++number, 64);
    }
    writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 1}, content)},
                 fmt::format("session-{}", session));
  }
  const Seen seen =
      read({scratch.path() / "session-0", scratch.path() / "session-1"}, Decoder::own);
  ASSERT_EQ(seen.error, "");
  EXPECT_EQ(seen.events.size(), 3u);
}

/// Packets of one stream.
class Packets : public DecoderTest {
 protected:
  TraceWriter writer;
  std::uint32_t end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");

  [[nodiscard]] std::string packet(std::uint64_t time, std::uint64_t sequence,
                                   std::uint64_t discarded) const {
    return ends_packet(writer, end, {time}, {.sequence = sequence, .discarded = discarded});
  }
};

TEST_F(Packets, InSeveralFilesHaveTheirLossesCountedOnce) {
  // A packet is lost between the files, the later of which comes first.
  writer.write(scratch,
               {packet(30, 4, 9) + packet(40, 5, 12), packet(10, 1, 0) + packet(20, 2, 5)});
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace}) {
    const Seen seen = read({scratch.path() / "trace"}, decoder);
    EXPECT_EQ(seen.losses.discarded_events, 12u);
    EXPECT_EQ(seen.losses.discarded_packets, 1u);
  }
}

TEST_F(Packets, OfTwoSnapshotsAreNotLostBetweenThem) {
  writer.write(scratch, {packet(10, 1, 3) + packet(20, 2, 5)}, "trace/first");
  writer.write(scratch, {packet(20, 2, 5) + packet(30, 3, 5)}, "trace/second");
  EXPECT_EQ(read({scratch.path() / "trace"}, Decoder::own).losses.discarded_events, 5u);
}

TEST_F(DecoderTest, StreamsAreMergedByTime) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  writer.write(scratch, {ends_packet(writer, end, {10, 40, 41}, {.cpu = 0}) +
                             ends_packet(writer, end, {60, 61}, {.sequence = 1, .cpu = 0}),
                         ends_packet(writer, end, {5, 20, 50, 70}, {.cpu = 1}),
                         ends_packet(writer, end, {30}, {.cpu = 2}), std::string()});
  std::vector<std::uint64_t> times;
  for (const Event& event : read_both(scratch).events) {
    times.push_back(event.values[0]);
  }
  EXPECT_THAT(times, ElementsAre(5, 10, 20, 30, 40, 41, 50, 60, 61, 70));
}

TEST_F(DecoderTest, SimultaneousEventsComeInTheOrderOfTheStreams) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  writer.write(scratch, {ends_packet(writer, end, {10, 20}, {.cpu = 0}),
                         ends_packet(writer, end, {10, 20}, {.cpu = 1})});
  std::vector<std::pair<std::uint64_t, int>> order;
  for (const Event& event : read({scratch.path() / "trace"}, Decoder::own).events) {
    order.emplace_back(event.values[0], event.cpu);
  }
  EXPECT_THAT(order,
              ElementsAre(std::pair(10, 0), std::pair(10, 1), std::pair(20, 0), std::pair(20, 1)));
}

TEST_F(DecoderTest, HostsAreShiftedToTheFirstOnesTimeLine) {
  TraceWriter first;
  const auto end = first.declare("ros2:callback_end", std::string(handle) + "_callback;");
  TraceWriter second = first;
  second.hostname = "arm";
  second.boot_id = "00000000-b61b-43cf-a191-9301eb8b3b13";
  second.offset = first.offset + 1000;
  TraceWriter same_boot = first;
  same_boot.uuid[0] = 'b';
  same_boot.offset = first.offset + 77;  // measured again for another session
  first.write(scratch, {ends_packet(first, end, {100, 3000}, {})}, "first");
  second.write(scratch, {ends_packet(second, end, {200}, {})}, "second");
  same_boot.write(scratch, {ends_packet(same_boot, end, {150}, {})}, "third");
  const std::vector paths{scratch.path() / "first", scratch.path() / "second",
                          scratch.path() / "third"};
  for (const Decoder decoder : {Decoder::own, Decoder::babeltrace}) {
    const Seen seen = read(paths, decoder);
    std::vector<std::int64_t> times;
    for (const Event& event : seen.events) {
      times.push_back(event.time.time_since_epoch().count());
    }
    EXPECT_THAT(times, ElementsAre(100, 150, 1200, 3000));
    EXPECT_EQ(std::get<0>(seen.threads[2]), "arm");
  }
}

TEST_F(DecoderTest, TracesOfOneHostAreInTheOrderOfItsClockHoweverTheirOffsetsWereMeasured) {
  TraceWriter first;
  const auto end = first.declare("ros2:callback_end", std::string(handle) + "_callback;");
  TraceWriter second = first;
  second.offset = first.offset + 1000;
  second.uuid[0] = 'b';
  first.write(scratch, {ends_packet(first, end, {100, 300, 500}, {})}, "trace/first");
  second.write(scratch, {ends_packet(second, end, {200, 400}, {})}, "trace/second");
  std::vector<std::uint64_t> order;
  for (const Event& event : read_both(scratch).events) {
    order.push_back(event.values[0]);
  }
  EXPECT_THAT(order, ElementsAre(100, 200, 300, 400, 500));
}

TEST_F(DecoderTest, TracesOfAnotherHostAreInTheOrderOfItsClockToo) {
  TraceWriter first;
  const auto end = first.declare("ros2:callback_end", std::string(handle) + "_callback;");
  TraceWriter second = first;
  second.hostname = "arm";
  second.boot_id = "00000000-b61b-43cf-a191-9301eb8b3b13";
  TraceWriter third = second;
  third.offset = second.offset + 1000;
  third.uuid[0] = 'b';
  first.write(scratch, {ends_packet(first, end, {100}, {})}, "trace/first");
  second.write(scratch, {ends_packet(second, end, {200, 400}, {})}, "trace/second");
  third.write(scratch, {ends_packet(third, end, {300}, {})}, "trace/third");
  std::vector<std::uint64_t> order;
  for (const Event& event : read_both(scratch).events) order.push_back(event.values[0]);
  EXPECT_THAT(order, ElementsAre(100, 200, 300, 400));
}

TEST_F(DecoderTest, AnEarlierRunningOfAMachineHasTimesBeforeTheOrigin) {
  TraceWriter first;
  const auto end = first.declare("ros2:callback_end", std::string(handle) + "_callback;");
  TraceWriter second = first;
  second.boot_id = "00000000-b61b-43cf-a191-9301eb8b3b13";
  second.offset = first.offset - 10'000;
  first.write(scratch, {ends_packet(first, end, {100}, {})}, "new");
  second.write(scratch, {ends_packet(second, end, {200, 300}, {})}, "old");
  std::vector<std::int64_t> times;
  for (const Event& event :
       read({scratch.path() / "new", scratch.path() / "old"}, Decoder::own).events) {
    times.push_back(event.time.time_since_epoch().count());
  }
  EXPECT_THAT(times, ElementsAre(-9800, -9700, 100));
}

TEST_F(DecoderTest, OffsetsOfAnySizeAreBounded) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  std::string metadata = writer.metadata();
  const std::string offset = "offset = " + std::to_string(writer.offset);
  metadata.replace(metadata.find(offset), offset.size(),
                   "offset = 18446744073709551615; offset_s = 9223372036854775807");
  writer.write(scratch, {ends_packet(writer, end, {5}, {})});
  scratch.write("trace/metadata", metadata);
  const auto source = open(std::vector{scratch.path() / "trace"}, {.decoder = Decoder::own});
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->epoch_offset(), longest_time);
}

/// Metadata with a part replaced.
std::string with(std::string metadata, const std::string& from, const std::string& to) {
  const auto at = metadata.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return metadata.replace(at, from.size(), to);
}

TEST_F(DecoderTest, CyclesOfAClockThatDoesNotCountNanosecondsAreConverted) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  writer.offset = 7;
  writer.write(scratch, {ends_packet(writer, end, {3, 5'000'000}, {})});
  scratch.write("trace/metadata", with(writer.metadata(), "freq = 1000000000", "freq = 1000000"));
  EXPECT_THAT(read({scratch.path() / "trace"}, Decoder::own).error, HasSubstr("nanoseconds"));
  const auto source = open(std::vector{scratch.path() / "trace"});
  ASSERT_TRUE(source) << source.error().message;
  Batch batch;
  ASSERT_TRUE((*source)->read(batch));
  ASSERT_THAT(batch.events, SizeIs(2));
  EXPECT_EQ(batch.events[0].time, Instant(std::chrono::microseconds(3)));
  EXPECT_EQ(batch.events[1].time, Instant(std::chrono::seconds(5)));
  EXPECT_EQ((*source)->epoch_offset(), std::chrono::microseconds(7));
}

TEST_F(DecoderTest, HeadersAndFieldsAreAlignedAsTheirStructuresSay) {
  TraceWriter writer;
  writer.context.clear();
  const auto end = writer.declare("takt:message_kept", std::string(handle) + "_message;");
  const auto odd = writer.declare("my:event", "integer { size = 3; align = 1; signed = 0; } x;");
  // No stream context; the header ends within a byte, and may begin within one.
  const std::string header =
      "struct { uint5_t id; integer { size = 30; align = 1; map = clock.monotonic.value; } t; };";
  Bits content;
  for (std::uint64_t time = 1; time < 4; ++time) {
    content.add(odd, 5).add(time, 30).add(5, 3);
    content.add(end, 5).add(time, 30).align(8).add(77 + time, 64);
  }
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 4}, content)});
  scratch.write("trace/metadata", with(writer.metadata(), "struct event_header_large;", header));
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(3));
  EXPECT_EQ(seen.events[2].values[0], 80U);
  EXPECT_EQ(seen.counts.at("my:event"), 3U);
  EXPECT_THAT(seen.losses.faults, IsEmpty());
}

TEST_F(DecoderTest, LongListsAreCutAndCounted) {
  TraceWriter writer;
  const auto link =
      writer.declare("ros2:message_link_partial_sync",
                     std::string("uint32_t __subs_length; uint8_t _subs[__subs_length];"));
  Bits content;
  writer.header(content, link, 1);
  TraceWriter::add_context(content, 1, 1, "p");
  content.add(longest_list + 5, 32);
  for (std::uint64_t i = 0; i < longest_list + 5; ++i) {
    content.add(i % 256, 8);
  }
  writer.write(scratch, {TraceWriter::packet({.begin = 1, .end = 1}, content)});
  const Seen seen = read_both(scratch);
  EXPECT_THAT(seen.payloads.at(0).lists[0], SizeIs(longest_list));
  EXPECT_EQ(seen.losses.cut_elements, 5U);
}

TEST_F(DecoderTest, NumbersOfProcessorsThatCannotBeAreLimited) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  writer.write(scratch, {ends_packet(writer, end, {1}, {.cpu = 0x10003})});
  EXPECT_EQ(read_both(scratch).events.at(0).cpu, largest_processor);
}

TEST_F(DecoderTest, ATruncatedStreamGivesItsReadablePartAndACountOfTheRest) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  const std::string first = ends_packet(writer, end, {1, 2, 3}, {.padding = 0});
  const std::string second = ends_packet(writer, end, {4, 5, 6}, {.sequence = 1, .padding = 0});
  const std::size_t event_size = 6 + 25 + 8;
  for (std::size_t length = 0; length <= first.size() + second.size(); ++length) {
    writer.write(scratch, {(first + second).substr(0, length)});
    const Seen seen = read({scratch.path() / "trace"}, Decoder::own);
    ASSERT_EQ(seen.error, "");
    // All events that are there in full.
    const auto readable = [&](std::size_t bytes) {
      return bytes < 84 ? 0 : std::min<std::size_t>((bytes - 84) / event_size, 3);
    };
    const std::size_t expected =
        length < first.size() ? readable(length) : 3 + readable(length - first.size());
    ASSERT_EQ(seen.events.size(), expected) << length;
    const bool is_whole =
        length == 0 || length == first.size() || length == first.size() + second.size();
    EXPECT_EQ(seen.losses.faults.empty(), is_whole) << length;
    EXPECT_EQ(seen.losses.unreadable_bytes == 0, is_whole) << length;
  }
  writer.write(scratch, {first + second.substr(0, second.size() - 10)});
  EXPECT_THAT(read({scratch.path() / "trace"}, Decoder::own).losses.faults[0],
              HasSubstr("ros2_0: the file ends in the middle of a packet; 10 bytes"));
}

TEST_F(DecoderTest, ADamagedPacketDoesNotHideTheOnesAfterIt) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  std::string first = ends_packet(writer, end, {1, 2, 3}, {});
  const std::string second = ends_packet(writer, end, {4}, {.sequence = 1});
  first[84] = 9;  // an event class that is not declared
  writer.write(scratch, {first + second});
  const Seen seen = read({scratch.path() / "trace"}, Decoder::own);
  ASSERT_THAT(seen.events, SizeIs(1));
  EXPECT_EQ(seen.events[0].values[0], 4u);
  EXPECT_THAT(seen.losses.faults, ElementsAre(HasSubstr("an event of an unknown class 9")));
}

/// Whatever the bytes are, reading ends and keeps the order of events.
TEST_F(DecoderTest, RandomDamageIsSurvived) {
  TraceWriter writer(TraceWriter::Header::compact);
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  const auto node = writer.declare("ros2:rcl_node_init",
                                   std::string(handle) + "_node_handle; " + handle +
                                       "_rmw_handle; string _node_name; string _namespace;");
  const auto link =
      writer.declare("ros2:message_link_partial_sync",
                     std::string("uint32_t __subs_length; ") + handle + "_subs[__subs_length];");
  Bits content;
  for (std::uint64_t time = 1; time < 30; time += 3) {
    writer.header(content, end, time);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(time, 64);
    writer.header(content, node, time + 1);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(1, 64).add(2, 64).text("n").text("/");
    writer.header(content, link, time + 2);
    TraceWriter::add_context(content, 1, 1, "p");
    content.add(1, 32).add(11, 64);
  }
  const std::string intact = TraceWriter::packet({.begin = 1, .end = 30}, content) +
                             TraceWriter::packet({.begin = 31, .end = 60, .sequence = 1}, content);
  const std::string metadata = writer.metadata();
  std::mt19937 random(42);
  for (int trial = 0; trial < 500; ++trial) {
    std::string damaged = intact;
    std::string text = metadata;
    std::string& target = trial % 3 == 0 ? text : damaged;
    for (int flips = 0; flips <= trial % 5; ++flips) {
      target[random() % target.size()] = static_cast<char>(random());
    }
    scratch.write("trace/metadata", text);
    scratch.write("trace/ros2_0", damaged);
    const Seen seen = read({scratch.path() / "trace"}, Decoder::own);
    EXPECT_TRUE(std::is_sorted(seen.events.begin(), seen.events.end(),
                               [](const Event& a, const Event& b) { return a.time < b.time; }));
  }
}

/// A declaration of a field, its alignment, and what writes a value of it.
struct RandomField {
  std::string declaration;
  std::uint32_t align = 8;
  std::function<void(Bits&)> write;
};

/// Fields of any layout that CTF knows and our decoder reads, with any values.
class RandomFields {
 public:
  explicit RandomFields(std::uint32_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  RandomField integer(const std::string& name) {
    const auto size = static_cast<std::uint32_t>(1 + below(64));
    const bool is_big_endian = size % 8 == 0 && below(2) == 0;
    const std::uint32_t align = is_big_endian || below(2) == 0 ? 8u << below(4) : 1;
    return {fmt::format("integer {{ size = {}; align = {}; signed = {}; byte_order = {}; }} _{};",
                        size, align, below(2), is_big_endian ? "be" : "le", name),
            align, [=, this](Bits& bits) {
              is_big_endian ? bits.byte_swapped(random_(), size) : bits.add(random_(), size);
            }};
  }
  RandomField skipped(const std::string& name) {
    switch (below(4)) {
      case 0:
        return integer(name);
      case 1:
        return {"string _" + name + ";", 8,
                [this](Bits& bits) { bits.text(std::string(below(9), 'x')); }};
      case 2:
        return {"floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; } _" +
                    name + ";",
                8, [this](Bits& bits) { bits.add(random_() & 0x7f7fffff, 32); }};
      default:
        return {fmt::format("uint8_t _{0}_length; uint16_t _{0}[_{0}_length];", name), 8,
                [this](Bits& bits) {
                  const std::uint64_t length = below(5);
                  bits.add(length, 8);
                  for (std::uint64_t i = 0; i < length; ++i) {
                    bits.add(random_(), 16);
                  }
                }};
    }
  }

 private:
  std::mt19937_64 random_;
};

class RandomTraceTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  Scratch scratch;
};

TEST_P(RandomTraceTest, IsReadAsBabeltraceReadsIt) {
  RandomFields random(GetParam());
  std::vector<RandomField> fields;
  std::string declarations;
  std::uint32_t structure_align = 1;
  for (const char* const known :
       {"rmw_subscription_handle", "message", "source_timestamp", "taken"}) {
    fields.push_back(random.skipped(fmt::format("before_{}", known)));
    fields.push_back(random.integer(known));
  }
  for (const RandomField& field : fields) {
    declarations += field.declaration;
    structure_align = std::max(structure_align, field.align);
  }
  TraceWriter writer(random.below(2) == 0 ? TraceWriter::Header::compact
                                          : TraceWriter::Header::large);
  const auto take = writer.declare("ros2:rmw_take", declarations);
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  std::vector<std::string> streams(1 + random.below(3));
  std::size_t events = 0;
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    std::uint64_t time = 1000 + random.below(1000) * 8 + stream;  // no two streams meet
    std::uint64_t discarded = 0;
    for (std::uint64_t packet = 0; packet <= random.below(4); ++packet) {
      Bits content;
      constexpr std::uint32_t before = 8 * 84;  // of packet header and context
      const auto align = [&content](std::uint32_t bits) {
        content.add(0, (bits - (before + content.size()) % bits) % bits);
      };
      const std::uint64_t begin = time;
      for (std::uint64_t i = 0; i <= random.below(20); ++i, ++events) {
        time += 8 * random.below(1 << random.below(27));
        const bool is_take = random.below(2) == 0;
        writer.header(content, is_take ? take : end, time, random.below(4) == 0 || i == 0);
        TraceWriter::add_context(content, 1, static_cast<std::int32_t>(random.below(3)), "p");
        if (is_take) {
          align(structure_align);
          for (const RandomField& field : fields) {
            align(field.align);
            field.write(content);
          }
        } else {
          align(8);
          content.add(time, 64);
        }
      }
      discarded += random.below(3);
      streams[stream] +=
          TraceWriter::packet({.begin = begin,
                               .end = time,
                               .sequence = packet,
                               .discarded = discarded,
                               .cpu = static_cast<std::uint32_t>(stream),
                               .padding = static_cast<std::uint32_t>(8 * random.below(9))},
                              content);
    }
  }
  writer.write(scratch, streams);
  EXPECT_THAT(read_both(scratch).events, SizeIs(events));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTraceTest, testing::Range(0u, 40u));

TEST_F(DecoderTest, TheSchedulersEventsNameTheProcessorInTheirContext) {
  TraceWriter writer;
  writer.context = std::string(int_32) + "_cpu_id;";
  const std::string name = "integer { size = 8; align = 8; signed = 1; encoding = UTF8; } ";
  const auto event = writer.declare(
      "sched_switch", name + "_prev_comm[16];" + int_32 + "_prev_tid;" + int_32 + "_prev_prio;" +
                          int_64 + "_prev_state;" + name + "_next_comm[16];" + int_32 +
                          "_next_tid;" + int_32 + "_next_prio;");
  const auto add_name = [](Bits& bits, const std::string& text) {
    for (std::size_t i = 0; i < 16; ++i) {
      bits.add(i < text.size() ? static_cast<unsigned char>(text[i]) : 0, 8);
    }
  };
  Bits content;
  writer.header(content, event, 9);
  content.add(3, 32);
  add_name(content, "planner");
  content.add(7, 32).add(20, 32).add(1, 64);
  add_name(content, "swapper/3");
  content.add(0, 32).add(static_cast<std::uint32_t>(-2), 32);
  writer.write(scratch, {TraceWriter::packet({.begin = 9, .end = 9}, content)});
  const Seen seen = read_both(scratch);
  ASSERT_THAT(seen.events, SizeIs(1));
  EXPECT_EQ(seen.events[0].type, EventType::sched_switch);
  EXPECT_EQ(seen.events[0].cpu, 3);
  EXPECT_EQ(seen.payloads[0].texts[0], "planner");
  EXPECT_EQ(seen.payloads[0].texts[1], "swapper/3");
  EXPECT_THAT(seen.events[0].values, ElementsAre(7, 20, 1, 0, static_cast<std::uint64_t>(-2), 0));
}

/// Streams are decoded in chunks and threads are numbered in each.
TEST_F(DecoderTest, ThreadsAreTheSameInAllChunksAndHaveTheirNewestName) {
  TraceWriter writer;
  const auto end = writer.declare("ros2:callback_end", std::string(handle) + "_callback;");
  std::vector<std::string> streams;
  constexpr std::uint64_t count = 5000;
  for (std::uint32_t cpu = 0; cpu < 2; ++cpu) {
    Bits content;
    for (std::uint64_t i = 0; i < count; ++i) {
      writer.header(content, end, 2 * i + cpu);
      const auto thread = static_cast<std::int32_t>(i % 3);  // they run on both processors
      TraceWriter::add_context(content, 1, thread, i < count / 2 ? "old" : "new");
      content.add(i, 64);
    }
    streams.push_back(TraceWriter::packet({.begin = 0, .end = 2 * count, .cpu = cpu}, content));
  }
  writer.write(scratch, streams);
  const std::vector paths{scratch.path() / "trace"};
  const auto source = open(paths, {.decoder = Decoder::own});
  ASSERT_TRUE(source);
  std::uint64_t position = 0;
  Batch batch;
  while ((*source)->read(batch)) {
    for (const Event& event : batch.events) {
      ASSERT_EQ(event.values[0], position / 2);
      ASSERT_EQ(event.cpu, position % 2);
      ASSERT_EQ((*source)->threads()[event.thread].id, static_cast<std::int64_t>(position / 2 % 3));
      ++position;
    }
  }
  EXPECT_EQ(position, 2 * count);
  ASSERT_THAT((*source)->threads().threads(), SizeIs(3));
  for (const Thread& thread : (*source)->threads().threads()) {
    EXPECT_EQ(thread.name, "new");
  }
  EXPECT_EQ((*source)->position().done, (*source)->position().total);
}

/// Recordings of real systems lie beside the project, not in it.
TEST(RecordedTest, EveryRecordingIsReadAsBabeltraceReadsIt) {
  const auto folder = std::filesystem::path(TAKT_SOURCE_DIR) / ".." / "shared" / "traces";
  std::size_t count = 0;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code)) {
    if (entry.path().extension() == ".xz") {
      SCOPED_TRACE(entry.path());
      EXPECT_GT(read_both(entry.path()).events.size(), 40'000);
      ++count;
    }
  }
  if (count == 0) {
    GTEST_SKIP() << "no recordings in " << folder;
  }
}

}  // namespace
}  // namespace takt::events
