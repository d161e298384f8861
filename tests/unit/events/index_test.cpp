#include <gmock/gmock.h>

#include "layout.hpp"
#include "takt/events/event_stream.hpp"
#include "trace_writer.hpp"

/// A trace whose files end before what LTTng's index of them lists, as a copy that was cut short.
namespace takt::events {
namespace {

using test::Bits;
using test::Scratch;
using test::TraceWriter;
using testing::ElementsAre;
using testing::IsEmpty;

/// An entry for a packet that is full, as LTTng 2.13 writes it.
void add_entry(Bits& index, std::uint64_t offset, std::uint64_t size) {
  for (const std::uint64_t value : {offset, size * 8, size * 8}) index.byte_swapped(value, 64);
  for (int rest = 0; rest < 6; ++rest) index.byte_swapped(0, 64);
}

Bits index_of(std::initializer_list<std::uint64_t> offsets, std::uint64_t size) {
  Bits index;
  for (const std::uint64_t value : {0xc1f1dcc1U, 1U, 1U, 72U}) index.byte_swapped(value, 32);
  for (const std::uint64_t offset : offsets) add_entry(index, offset, size);
  return index;
}

class IndexTest : public testing::TestWithParam<Decoder> {
 protected:
  IndexTest() {
    writer.declare("ros2:callback_end", "integer { size = 64; align = 8; } _callback;");
    writer.write(scratch, {}, "trace");
    scratch.write("trace/ros2_0", packet);
  }

  [[nodiscard]] StreamLosses losses() const {
    const auto source = open(std::vector{scratch.path() / "trace"}, {.decoder = GetParam()});
    EXPECT_TRUE(source) << source.error().message;
    return source ? (*source)->losses() : StreamLosses();
  }

  Scratch scratch;
  TraceWriter writer;
  std::string packet = TraceWriter::packet({.padding = 0}, Bits());
};

TEST_P(IndexTest, AFileWithAllThatIsListedIsWhole) {
  scratch.write("trace/index/ros2_0.idx", index_of({0}, packet.size()).bytes());
  EXPECT_FALSE(losses().any());
}

TEST_P(IndexTest, PacketsBehindTheEndOfTheFileAreLost) {
  const std::uint64_t size = packet.size();
  scratch.write("trace/index/ros2_0.idx", index_of({0, size, 2 * size}, size).bytes());
  EXPECT_THAT(
      losses().faults,
      ElementsAre("ros2_0: its index lists 2 packets with 168 bytes that are not there: the "
                  "file ends before them"));
  EXPECT_EQ(losses().unreadable_bytes, 168U);
}

TEST_P(IndexTest, AFileThatIsNotThereIsLost) {
  scratch.write("trace/index/ros2_1.idx", index_of({0}, packet.size()).bytes());
  EXPECT_THAT(
      losses().faults,
      ElementsAre("ros2_1: its index lists 1 packet with 84 bytes that are not there: the file "
                  "is missing"));
}

TEST_P(IndexTest, WhatIsNoIndexSaysNothing) {
  const Bits listed = index_of({1000}, 84);
  std::string another_version = listed.bytes();
  another_version[7] = 2;
  std::string no_entries = listed.bytes();
  no_entries[15] = 0;
  for (const std::string& content :
       {std::string(), std::string("text"), listed.bytes().substr(0, 20), another_version,
        no_entries, std::string(16, '\0')}) {
    scratch.write("trace/index/ros2_0.idx", content);
    EXPECT_THAT(losses().faults, IsEmpty());
  }
}

TEST_P(IndexTest, AnIndexOfWhatCannotBeIsDamagedAndCountsNothing) {
  if (GetParam() == Decoder::babeltrace) {
    GTEST_SKIP() << "libbabeltrace2 reads the index itself, and refuses such traces";
  }
  Bits more_than_there_is = index_of({0}, 84);
  for (const std::uint64_t value : {84U, 80U, 88U}) more_than_there_is.byte_swapped(value, 64);
  for (int rest = 0; rest < 6; ++rest) more_than_there_is.byte_swapped(0, 64);
  for (const std::string& content :
       {index_of({100, 200}, UINT64_MAX / 8).bytes(), index_of({UINT64_MAX - 7}, 84).bytes(),
        more_than_there_is.bytes()}) {
    scratch.write("trace/index/ros2_0.idx", content);
    EXPECT_THAT(losses().faults, ElementsAre("ros2_0: its index is damaged: whether packets are "
                                             "missing is not known"));
    EXPECT_EQ(losses().unreadable_bytes, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Decoders, IndexTest, testing::Values(Decoder::own, Decoder::babeltrace));

}  // namespace
}  // namespace takt::events
