#include <gmock/gmock.h>

#include "layout.hpp"
#include "takt/base/stream_sizes.hpp"
#include "takt/events/event_stream.hpp"
#include "trace_writer.hpp"

/// A copy of a recording that lacks what the recording's list of its streams has.
namespace takt::events {
namespace {

using test::Bits;
using test::Scratch;
using test::TraceWriter;
using testing::ElementsAre;
using testing::IsEmpty;

class StreamListTest : public testing::TestWithParam<Decoder> {
 protected:
  StreamListTest() {
    writer.declare("ros2:callback_end", "integer { size = 64; align = 8; } _callback;");
    for (const char* process : {"run/ring/a-1-0", "run/ring/b-2-1"}) {
      writer.write(scratch, {}, process);
      scratch.write(std::string(process) + "/objects", packet);
      scratch.write(std::string(process) + "/thread_1", packet + packet);
    }
    list("run", {{"ring/a-1-0/objects", packet.size()},
                 {"ring/a-1-0/thread_1", 2 * packet.size()},
                 {"ring/b-2-1/objects", packet.size()},
                 {"ring/b-2-1/thread_1", 2 * packet.size()}});
  }

  void list(const std::string& recording, const StreamSizes& sizes) const {
    scratch.write(recording + "/takt-streams", stream_sizes_text(sizes));
  }
  [[nodiscard]] StreamLosses losses(const std::string& path = "run") const {
    const auto source = open(std::vector{scratch.path() / path}, {.decoder = GetParam()});
    EXPECT_TRUE(source) << source.error().message;
    if (!source) return {};
    for (Batch batch; (*source)->read(batch);) {
    }
    return (*source)->losses();
  }
  [[nodiscard]] std::filesystem::path process(const std::string& name) const {
    return scratch.path() / "run/ring" / name;
  }

  Scratch scratch;
  TraceWriter writer;
  const std::string packet = TraceWriter::packet({.padding = 0}, Bits());
};

TEST_P(StreamListTest, ARecordingWithAllThatIsListedIsWhole) { EXPECT_FALSE(losses().any()); }

TEST_P(StreamListTest, AFileThatIsNotThereIsLost) {
  std::filesystem::remove(process("b-2-1/thread_1"));
  EXPECT_THAT(losses().faults,
              ElementsAre("ring/b-2-1/thread_1: 168 bytes that were recorded are not there: the "
                          "file is missing"));
  EXPECT_EQ(losses().unreadable_bytes, 168U);
}

TEST_P(StreamListTest, AFolderThatIsNotThereIsLost) {
  std::filesystem::remove_all(process("b-2-1"));
  EXPECT_THAT(losses().faults,
              ElementsAre("ring/b-2-1: 2 files with 252 bytes that were recorded are not there: "
                          "the folder is missing"));
  EXPECT_EQ(losses().unreadable_bytes, 252U);
}

TEST_P(StreamListTest, WhatLiesBehindTheEndOfAFileIsLost) {
  std::filesystem::resize_file(process("a-1-0/thread_1"), packet.size());
  EXPECT_THAT(losses().faults,
              ElementsAre("ring/a-1-0/thread_1: 84 bytes that were recorded are not there: the "
                          "file ends before them"));
  EXPECT_EQ(losses().unreadable_bytes, 84U);
}

TEST_P(StreamListTest, WhatAPacketLacksIsCountedOnce) {
  if (GetParam() == Decoder::babeltrace) {
    GTEST_SKIP() << "libbabeltrace2 refuses such files";
  }
  Bits events;
  for (const std::uint64_t time : {1U, 2U}) {
    writer.header(events, 0, time);
    TraceWriter::add_context(events, 1, 1, "a");
    events.add(0, 64);
  }
  const std::string full = TraceWriter::packet({.padding = 0}, events);
  list("run", {{"ring/a-1-0/thread_1", full.size()}});
  scratch.write("run/ring/a-1-0/thread_1", full.substr(0, full.size() - 39));  // its last event
  EXPECT_THAT(losses().faults,
              ElementsAre("ring/a-1-0/thread_1: 39 bytes that were recorded are not there: the "
                          "file ends before them"));
  EXPECT_EQ(losses().unreadable_bytes, 39U);
}

TEST_P(StreamListTest, OfPartsOfARecordingNothingMoreIsAsked) {
  EXPECT_FALSE(losses("run/ring/a-1-0").any());
  std::filesystem::remove_all(process("b-2-1"));
  EXPECT_FALSE(losses("run/ring").any());
}

TEST_P(StreamListTest, WithoutAListNothingIsMissing) {
  std::filesystem::remove(scratch.path() / "run/takt-streams");
  std::filesystem::remove_all(process("b-2-1"));
  EXPECT_FALSE(losses().any());
}

TEST_P(StreamListTest, RecordingsOfSeveralHostsHaveAListEach) {
  writer.write(scratch, {}, "both/other/ring/c-3-0");
  list("both/other", {{"ring/c-3-0/objects", 84}});
  std::filesystem::rename(scratch.path() / "run", scratch.path() / "both/run");
  EXPECT_THAT(losses("both").faults,
              ElementsAre("ring/c-3-0/objects: 84 bytes that were recorded are not there: the "
                          "file is missing"));
}

TEST_P(StreamListTest, FilesWithAnIndexAreLeftToIt) {
  std::filesystem::remove(process("b-2-1/thread_1"));
  scratch.write("run/ring/b-2-1/index/thread_1.idx", "");
  EXPECT_THAT(losses().faults, IsEmpty());
}

TEST_P(StreamListTest, OfADamagedListNothingIsBelieved) {
  scratch.write("run/takt-streams", "takt/streams 1\n99 ring/c-3-0/objects\n");
  EXPECT_THAT(losses().faults,
              ElementsAre("takt-streams: damaged: whether files are missing is not known"));
  EXPECT_EQ(losses().unreadable_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(Decoders, StreamListTest,
                         testing::Values(Decoder::own, Decoder::babeltrace));

}  // namespace
}  // namespace takt::events
