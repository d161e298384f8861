#include "takt/workload/join_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace takt::workload {
namespace {

using model::CallbackIndex;
using model::JoinKind;

using testing::ElementsAre;

Activation from(std::size_t source, std::uint64_t sequence) {
  return {CallbackIndex(source), MessageId{"/topic", static_cast<std::uint32_t>(source), sequence}};
}

/// "1" for each arrival that activates, "0" for the others.
std::string activations(JoinKind kind, const std::string& arrivals) {
  JoinQueue state({.callback = CallbackIndex(9),
                   .kind = kind,
                   .inputs = {CallbackIndex(0), CallbackIndex(1)},
                   .unknown = {}});
  std::string result;
  for (const char source : arrivals) {
    result += state.arrive(from(static_cast<std::size_t>(source - 'a'), 1)) ? '1' : '0';
  }
  return result;
}

TEST(JoinQueue, NewestForgetsOlderMessagesOfAnInput) {
  EXPECT_EQ(activations(JoinKind::newest, "ab"), "01");
  EXPECT_EQ(activations(JoinKind::newest, "aaab"), "0001");
  EXPECT_EQ(activations(JoinKind::newest, "aaabb"), "00010");
  EXPECT_EQ(activations(JoinKind::newest, "abba"), "0101");
}

TEST(JoinQueue, AndQueuesTheMessagesOfAnInput) {
  EXPECT_EQ(activations(JoinKind::and_, "ab"), "01");
  EXPECT_EQ(activations(JoinKind::and_, "aaabbb"), "000111");
  EXPECT_EQ(activations(JoinKind::and_, "aabab"), "00101");
}

TEST(JoinQueue, WhatIsNoInputActivatesByItself) {
  EXPECT_EQ(activations(JoinKind::newest, "cac"), "101");
}

/// The numbers of the messages in the last of the sets that arrivals complete.
std::vector<std::uint64_t> last_set(JoinKind kind, const std::string& arrivals) {
  JoinQueue state({.callback = CallbackIndex(9),
                   .kind = kind,
                   .inputs = {CallbackIndex(0), CallbackIndex(1)},
                   .unknown = {}});
  std::vector<std::uint64_t> numbers;
  std::uint64_t sequence = 0;
  for (const char source : arrivals) {
    const auto set = state.arrive(from(static_cast<std::size_t>(source - 'a'), ++sequence));
    if (!set) continue;
    numbers.clear();
    for (const MessageId& message : *set) numbers.push_back(message.sequence);
  }
  return numbers;
}

TEST(JoinQueue, ASetHasTheNewestOrTheOldestOfEachInput) {
  EXPECT_THAT(last_set(JoinKind::newest, "aaab"), ElementsAre(3, 4));
  EXPECT_THAT(last_set(JoinKind::and_, "aaab"), ElementsAre(1, 4));
  EXPECT_THAT(last_set(JoinKind::and_, "aaabb"), ElementsAre(2, 5));
  EXPECT_THAT(last_set(JoinKind::newest, "aaabba"), ElementsAre(6, 5));
}

TEST(JoinQueue, WhatIsNoInputBringsNothingAlong) {
  EXPECT_THAT(last_set(JoinKind::newest, "ac"), testing::IsEmpty());
}

}  // namespace
}  // namespace takt::workload
