#include "takt/base/stream_sizes.hpp"

#include <gmock/gmock.h>

namespace takt {
namespace {

using testing::Eq;
using testing::Optional;

TEST(StreamSizes, AreReadAsTheyAreWritten) {
  for (const StreamSizes& sizes :
       {StreamSizes(), StreamSizes{{"ring/a node-1-0/objects", 0}, {"ust/takt_0", 1U << 20}}}) {
    EXPECT_THAT(parse_stream_sizes(stream_sizes_text(sizes)), Optional(Eq(sizes)));
  }
}

TEST(StreamSizes, AFileThatCannotBeListedLeavesTheOthersReadable) {
  EXPECT_THAT(parse_stream_sizes(stream_sizes_text({{"two\nlines", 1}, {"one", 2}})),
              Optional(Eq(StreamSizes{{"one", 2}})));
}

TEST(StreamSizes, OfAListThatWasCutShortAreNotBelieved) {
  const std::string whole = stream_sizes_text({{"ring/a/objects", 12}, {"ring/b/objects", 345}});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(parse_stream_sizes(whole.substr(0, length))) << length;
  }
}

TEST(StreamSizes, OfWhatCannotBeAreNotBelieved) {
  for (const char* line :
       {"", "12", "12 ", " a", "-1 a", "1x a", "99999999999999999999 a", "9999999999999999 a",
        "1 /etc/passwd", "1 ../a", "1 a/../../b", "1 a/", "end\n1 a"}) {
    EXPECT_FALSE(parse_stream_sizes(std::string("takt/streams 1\n") + line + "\nend\n")) << line;
  }
  EXPECT_FALSE(parse_stream_sizes("takt/streams 2\nend\n"));
}

}  // namespace
}  // namespace takt
