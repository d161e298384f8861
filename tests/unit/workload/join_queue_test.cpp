#include "takt/workload/join_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace takt::workload {
namespace {

using model::CallbackIndex;
using model::JoinKind;

/// "1" for each arrival that activates, "0" for the others.
std::string activations(JoinKind kind, const std::string& arrivals) {
  JoinQueue state({.callback = CallbackIndex(9),
                   .kind = kind,
                   .inputs = {CallbackIndex(0), CallbackIndex(1)},
                   .unknown = {}});
  std::string result;
  for (const char source : arrivals) {
    result += state.arrive(CallbackIndex(static_cast<std::size_t>(source - 'a'))) ? '1' : '0';
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

}  // namespace
}  // namespace takt::workload
