#include "takt/links/stamped_sets.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace takt::links {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

using Messages = std::vector<StampedMessage>;

constexpr std::size_t no_limit = 100;

/// Two cameras whose messages come in turns, so many times, with the second one's stamps so much
/// later.
Messages in_turns(std::size_t times, std::int64_t later) {
  Messages messages;
  for (std::size_t n = 0; n < times; ++n) {
    const auto stamp = static_cast<std::int64_t>(100 * n);
    messages.push_back({0, stamp});
    messages.push_back({1, stamp + later});
  }
  return messages;
}

TEST(StampedSets, EqualStampsMakeASetAtOnce) {
  EXPECT_THAT(approximate_time(in_turns(3, 0), 2, no_limit),
              ElementsAre(StampedSet{1, {0, 1}}, StampedSet{3, {2, 3}}, StampedSet{5, {4, 5}}));
}

TEST(StampedSets, ASetWaitsUntilNoBetterOneCanCome) {
  // After 0 and 10 a message at 10 could still come on input 0. The one at 100 says that none does,
  // and so does a later one of input 1.
  EXPECT_THAT(approximate_time(in_turns(3, 10), 2, no_limit),
              ElementsAre(StampedSet{2, {0, 1}}, StampedSet{4, {2, 3}}));
}

TEST(StampedSets, TheClosestStampsGoTogether) {
  const Messages messages{{0, 0}, {0, 9}, {0, 30}, {1, 10}, {0, 60}};
  EXPECT_THAT(approximate_time(messages, 2, no_limit), ElementsAre(StampedSet{3, {1, 3}}));
}

TEST(StampedSets, AMessageIsOfOneSetAndSetsAreInOrder) {
  std::mt19937 generator(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t inputs = 2 + generator() % 3;
    const std::size_t queue = 1 + generator() % 8;
    std::vector<std::int64_t> last(inputs, 0);
    Messages messages;
    for (int n = 0; n < 300; ++n) {
      const std::size_t input = generator() % inputs;
      last[input] += static_cast<std::int64_t>(1 + generator() % 50);
      messages.push_back({input, last[input]});
    }
    std::vector<std::optional<std::size_t>> used(inputs);
    std::size_t before = 0;
    for (const StampedSet& set : approximate_time(messages, inputs, queue)) {
      ASSERT_THAT(set.members, SizeIs(inputs));
      EXPECT_GE(set.completed_by, before);
      before = set.completed_by;
      for (std::size_t i = 0; i < inputs; ++i) {
        EXPECT_EQ(messages[set.members[i]].input, i);
        EXPECT_LE(set.members[i], set.completed_by);
        EXPECT_TRUE(!used[i] || *used[i] < set.members[i]);
        used[i] = set.members[i];
      }
    }
  }
}

TEST(StampedSets, AFullQueueLosesItsOldestMessage) {
  // The message at 5 fits the first two best, but a queue of two has no room for three.
  const Messages messages{{0, 0}, {0, 100}, {0, 200}, {1, 5}, {1, 205}, {0, 300}};
  EXPECT_THAT(approximate_time(messages, 2, no_limit),
              ElementsAre(StampedSet{3, {0, 3}}, StampedSet{5, {2, 4}}));
  EXPECT_THAT(approximate_time(messages, 2, 2), ElementsAre(StampedSet{5, {2, 4}}));
}

TEST(StampedSets, CompletionsTellExactSets) {
  const Messages messages = in_turns(10, 0);
  std::vector<std::size_t> completions;
  for (std::size_t n = 1; n < messages.size(); n += 2) completions.push_back(n);
  EXPECT_THAT(exact_sets(messages, 2, completions), Optional(SizeIs(10)));
  // A message that has no other with its stamp completes nothing.
  completions.back() = messages.size() - 2;
  EXPECT_EQ(exact_sets(messages, 2, completions), std::nullopt);
  EXPECT_EQ(exact_sets(messages, 2, std::vector<std::size_t>{1, 3}), std::nullopt);
}

TEST(StampedSets, CompletionsTellTheSizeOfTheQueues) {
  std::mt19937 generator(3);
  Messages messages;
  std::vector<std::int64_t> last(2, 0);
  for (int n = 0; n < 2000; ++n) {
    const std::size_t input = generator() % 2;
    last[input] += static_cast<std::int64_t>(1 + generator() % 40);
    messages.push_back({input, last[input]});
  }
  const auto sets = approximate_time(messages, 2, 3);
  ASSERT_GT(sets.size(), 30u);
  std::vector<std::size_t> completions;
  for (const StampedSet& set : sets) completions.push_back(set.completed_by);
  EXPECT_THAT(approximate_sets(messages, 2, completions), Optional(sets));
  completions.erase(completions.begin() + 20);
  EXPECT_EQ(approximate_sets(messages, 2, completions), std::nullopt);
}

/// A queue of two has lost the message at 8 when the one at 9 of the other input comes, which then
/// goes with the one at 9. Larger ones make a set with the one at 8, by the same message.
TEST(StampedSets, SizesOfQueuesThatDisagreeTellNothing) {
  Messages messages;
  for (std::int64_t round = 0; round < 10; ++round) {
    for (const auto& [input, stamp] : Messages{{1, 8}, {1, 9}, {1, 12}, {0, 6}, {0, 9}, {0, 18}}) {
      messages.push_back({input, 1000 * round + stamp});
    }
  }
  const auto with = [&](std::size_t queue) { return approximate_time(messages, 2, queue); };
  std::vector<std::size_t> completions;
  for (const StampedSet& set : with(2)) completions.push_back(set.completed_by);
  const auto same = [&](const std::vector<StampedSet>& sets) {
    return std::ranges::equal(sets, completions, {}, &StampedSet::completed_by);
  };
  ASSERT_TRUE(same(with(3)));
  EXPECT_EQ(with(2).front(), (StampedSet{4, {4, 1}}));
  EXPECT_EQ(with(3).front(), (StampedSet{4, {4, 0}}));
  EXPECT_EQ(approximate_sets(messages, 2, completions), std::nullopt);
}

}  // namespace
}  // namespace takt::links
