#include "takt/execution/message_index.hpp"

#include <gtest/gtest.h>

namespace takt::execution {
namespace {

MessageIndex::Key key(std::int64_t stamp) { return {TopicIndex(0), stamp, 0}; }

Publication by(std::size_t publisher) {
  Publication publication;
  publication.publisher = PublisherIndex(publisher);
  return publication;
}

/// A full index in which each publication has left the ring after four further ones.
class SmallIndex : public testing::Test {
 protected:
  MessageIndex index{4};

  void add_others(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      Publication other;
      other.sent = Instant(std::chrono::hours(1));
      index.add(other, key(1000 + i));
    }
  }
};

TEST_F(SmallIndex, KeepsTheNewestPublicationOfEachPublisher) {
  const PublicationId first = index.add(by(0), key(1));
  const PublicationId second = index.add(by(1), key(2));
  const PublicationId without_key = index.add(by(2));
  add_others(9);
  EXPECT_EQ(index.find(key(1)).newest, first);
  EXPECT_EQ(index.find(key(2)).newest, second);
  ASSERT_NE(index.find(without_key), nullptr);
  EXPECT_EQ(index.find(without_key)->publisher, PublisherIndex(2));
  EXPECT_EQ(index.find(key(3)).count, 0U);
}

TEST_F(SmallIndex, ForgetsItWhenThePublisherSendsAgain) {
  const PublicationId old = index.add(by(0), key(1));
  add_others(5);
  ASSERT_NE(index.find(old), nullptr);
  const PublicationId newer = index.add(by(0), key(3));
  EXPECT_EQ(index.find(old), nullptr);
  EXPECT_EQ(index.find(key(1)).count, 0U);
  add_others(5);
  EXPECT_EQ(index.find(key(3)).newest, newer);
}

TEST_F(SmallIndex, CountsEqualKeysOfPublishersThatHaveBeenQuiet) {
  index.add(by(0), key(1));
  index.add(by(1), key(1));
  add_others(5);
  EXPECT_EQ(index.find(key(1)).count, 2U);
}

}  // namespace
}  // namespace takt::execution
