#include <gmock/gmock.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "ctf_stream.hpp"
#include "trace_writer.hpp"

/// Chunks are bounded whatever a packet holds.
namespace takt::events::ctf {
namespace {

using test::Bits;
using test::TraceWriter;

/// What the chunks of a stream have, at most and together.
struct Chunks {
  std::size_t count = 0;
  std::size_t events = 0;
  std::size_t most_threads = 0;
  std::size_t most_payload_bytes = 0;
  std::uint64_t unknown_events = 0;
  StreamLosses losses;
};

Chunks read(const TraceWriter& writer, const std::string& bytes, std::size_t unknown) {
  const auto plan = plan_decoding(parse_metadata(writer.metadata()).value());
  EXPECT_TRUE(plan);
  TraceContext context;
  context.plan = &*plan;
  Stream stream(context, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "s");
  Chunks seen;
  for (Chunk chunk; !chunk.is_last; ++seen.count) {
    stream.read(chunk);
    seen.events += chunk.events.size();
    seen.most_threads = std::max(seen.most_threads, chunk.threads.size());
    seen.most_payload_bytes = std::max(seen.most_payload_bytes, chunk.payload_bytes);
    seen.unknown_events += chunk.counts[unknown];
    seen.losses += chunk.losses;
  }
  return seen;
}

class StreamTest : public testing::Test {
 protected:
  TraceWriter writer;
  std::uint32_t end =
      writer.declare("ros2:callback_end", "integer { size = 64; align = 8; } _callback;");
  std::uint32_t unknown = writer.declare("my:event", "uint8_t x;");
  std::uint32_t link = writer.declare("ros2:message_link_partial_sync",
                                      "integer { size = 32; align = 8; } __subs_length;"
                                      "integer { size = 1; align = 1; } _subs[__subs_length];");
};

TEST_F(StreamTest, EventsOfManyThreadsAreSeveralChunks) {
  constexpr std::int32_t count = 3000;
  Bits content;
  for (std::int32_t i = 0; i < count; ++i) {
    writer.header(content, unknown, 1);
    TraceWriter::add_context(content, 1, i, "p");
    content.add(1, 8);
    writer.header(content, end, 1);
    TraceWriter::add_context(content, 1, count + i, "p");
    content.add(1, 64);
  }
  const Chunks seen = read(writer, TraceWriter::packet({.begin = 1, .end = 1}, content), unknown);
  EXPECT_EQ(seen.events, count);
  EXPECT_EQ(seen.unknown_events, count);
  EXPECT_LE(seen.most_threads, Chunk::most_threads);
  EXPECT_TRUE(seen.losses.faults.empty());
}

TEST_F(StreamTest, AChunkEndsWithinALargePacket) {
  Bits event;
  writer.header(event, unknown, 1);
  TraceWriter::add_context(event, 1, 1, "p");
  event.add(1, 8);
  std::string content;
  std::uint64_t count = 0;
  for (; content.size() < 3 * Stream::chunk_bytes; ++count) {
    content += event.bytes();
  }
  const Chunks seen = read(writer, TraceWriter::packet({.begin = 1, .end = 1}, content), unknown);
  EXPECT_EQ(seen.unknown_events, count);
  EXPECT_GE(seen.count, 3U);
}

TEST_F(StreamTest, ListsOfBitsFillSeveralChunksAndWhatIsCutOffIsCounted) {
  constexpr std::uint32_t length = 70'000;
  Bits event;
  writer.header(event, link, 1);
  TraceWriter::add_context(event, 1, 1, "p");
  event.add(length, 32);
  std::string content;
  constexpr std::size_t count = 40;
  for (std::size_t i = 0; i < count; ++i) {
    content += event.bytes() + std::string(length / 8, '\x55');
  }
  const Chunks seen = read(writer, TraceWriter::packet({.begin = 1, .end = 1}, content), unknown);
  EXPECT_EQ(seen.events, count);
  EXPECT_LE(seen.most_payload_bytes, most_payload_bytes + 8 * longest_list);
  EXPECT_EQ(seen.losses.cut_elements, count * (length - longest_list));
}

}  // namespace
}  // namespace takt::events::ctf
