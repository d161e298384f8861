#include "takt/bridge/turn.hpp"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace takt::bridge {
namespace {

using testing::ElementsAre;

TEST(Turn, TheMostUrgentThatWaitsGoesFirst) {
  std::array waiting{1, 0, 2, 1};
  std::vector<std::size_t> published;
  const auto publish = [&](std::size_t topic) {
    if (waiting[topic] == 0) return false;
    --waiting[topic];
    published.push_back(topic);
    // While it is published, something more urgent comes.
    if (published.size() == 2) ++waiting[1];
    return true;
  };
  EXPECT_TRUE(publish_in_turn(waiting.size(), publish)) << "more may wait";
  EXPECT_THAT(published, ElementsAre(0, 2, 1, 2));
  EXPECT_FALSE(publish_in_turn(waiting.size(), publish));
  EXPECT_THAT(published, ElementsAre(0, 2, 1, 2, 3));
}

TEST(Turn, EndsHoweverFastMessagesArrive) {
  std::size_t published = 0;
  const auto endless = [&](std::size_t topic) {
    published += topic == 1 ? 1 : 0;
    EXPECT_LE(published, 3u);
    return topic == 1;
  };
  EXPECT_TRUE(publish_in_turn(3, endless));
  EXPECT_EQ(published, 3u);
  EXPECT_FALSE(publish_in_turn(0, endless));
}

}  // namespace
}  // namespace takt::bridge
