#include "takt/links/held_messages.hpp"

#include <gmock/gmock.h>

#include <deque>

namespace takt::links {
namespace {

using testing::ElementsAre;

/// Whether each of the messages completes a set, which is then used.
std::vector<bool> complete(model::JoinKind kind, const std::vector<std::size_t>& inputs) {
  HeldMessages<MessageCount> held(kind, 2);
  std::vector<bool> completed;
  for (const std::size_t input : inputs) {
    held.arrive(input);
    completed.push_back(held.is_complete());
    if (held.is_complete()) held.use();
  }
  return completed;
}

TEST(HeldMessages, AndQueuesWhereNewestForgets) {
  const std::vector<std::size_t> inputs{0, 0, 1, 1, 0, 1};
  EXPECT_THAT(complete(model::JoinKind::and_, inputs),
              ElementsAre(false, false, true, true, false, true));
  EXPECT_THAT(complete(model::JoinKind::newest, inputs),
              ElementsAre(false, false, true, false, true, false));
}

TEST(HeldMessages, AreTheOldestOfAQueueAndTheNewestElse) {
  HeldMessages<std::deque<int>> all(model::JoinKind::and_, 1);
  HeldMessages<std::deque<int>> newest(model::JoinKind::newest, 1);
  for (const int message : {1, 2, 3}) {
    all.arrive(0, message);
    newest.arrive(0, message);
  }
  EXPECT_THAT(all.of(0), ElementsAre(1, 2, 3));
  EXPECT_THAT(newest.of(0), ElementsAre(3));
  all.use();
  newest.use();
  EXPECT_THAT(all.of(0), ElementsAre(2, 3));
  EXPECT_TRUE(newest.of(0).empty());
}

}  // namespace
}  // namespace takt::links
