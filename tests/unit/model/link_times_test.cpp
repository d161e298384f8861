#include "takt/model/link_times.hpp"

#include <gtest/gtest.h>

#include "takt/curves/saturating.hpp"

namespace takt::model {
namespace {

TEST(LinkTimes, AreThoseOfChunks) {
  const Link link{.id = "wire",
                  .bandwidth = 8'000'000'000,
                  .chunk_bytes = 100,
                  .overhead = Duration{5},
                  .unknown = {}};
  EXPECT_EQ(message_time(link, 0), Duration{5}) << "a chunk without bytes";
  EXPECT_EQ(message_time(link, 100), Duration{105});
  EXPECT_EQ(message_time(link, 101), Duration{105 + 6});
  EXPECT_EQ(message_time(link, 300), Duration{3 * 105});
  Link free = link;
  free.overhead = Duration{0};
  EXPECT_EQ(message_time(free, 0), epsilon);
}

TEST(LinkTimes, AreRoundedUpByChunkAndDoNotWrap) {
  Link link{.id = "wire", .bandwidth = 1'000'000'000'000'000'000, .chunk_bytes = 1, .unknown = {}};
  EXPECT_EQ(longest_chunk_time(link), epsilon);
  EXPECT_EQ(message_time(link, 9'000'000'000'000'000'000), Duration{9'000'000'000'000'000'000});
  link.overhead = Duration{5};
  EXPECT_EQ(message_time(link, 9'000'000'000'000'000'000), curves::unbounded_time);
}

}  // namespace
}  // namespace takt::model
