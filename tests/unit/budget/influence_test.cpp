#include "takt/budget/influence.hpp"

#include <gtest/gtest.h>

#include "milliseconds.hpp"
#include "model_builder.hpp"

/// On which executors a chain's bound depends.
namespace takt::budget {
namespace {

using model::CallbackIndex;
using model::ExecutorIndex;
using Executors = std::vector<ExecutorIndex>;

class InfluenceTest : public ::testing::Test {
 protected:
  CallbackIndex timer() {
    return builder_.timer(builder_.executor(), ms(1), model::every(ms(100)));
  }
  CallbackIndex subscription() { return builder_.subscription(builder_.executor(), ms(1)); }

  Executors of_chain() { return influencing(builder_.model(), builder_.model().chains.front()); }

  model::ModelBuilder builder_;
};

TEST_F(InfluenceTest, ActivatorsOfTheOthersOnTheExecutorsCountToo) {
  const CallbackIndex first = timer();
  const CallbackIndex second = subscription();
  const CallbackIndex beside = builder_.subscription(ExecutorIndex{1}, ms(1));
  builder_.edge(timer(), beside);
  builder_.edge(second, subscription());  // the chain's successor does not count
  builder_.chain({first, second});
  EXPECT_EQ(of_chain(), (Executors{ExecutorIndex{0}, ExecutorIndex{1}, ExecutorIndex{2}}));
}

TEST_F(InfluenceTest, WhatACallbackSamplesCountsAlongTheChainAlone) {
  const CallbackIndex sampling = timer();
  builder_.edge(timer(), sampling);
  const CallbackIndex before = timer();
  builder_.chain({before, sampling});
  EXPECT_EQ(of_chain(), (Executors{ExecutorIndex{0}, ExecutorIndex{2}}));
}

class InfluenceOverLinksTest : public InfluenceTest {
 protected:
  InfluenceOverLinksTest() {
    for (const char* id : {"one", "other"}) {
      builder_.model().links.push_back({.id = id,
                                        .bandwidth = 1'000'000'000,
                                        .chunk_bytes = 1000,
                                        .overhead = Duration{5},
                                        .unknown = {}});
    }
  }

  void over_link(std::size_t link, CallbackIndex from, CallbackIndex to) {
    builder_.edge(from, to).link = model::LinkIndex{link};
  }
  void stream_over(std::size_t link) {
    const CallbackIndex from = timer();
    over_link(link, from, subscription());
  }
};

TEST_F(InfluenceOverLinksTest, SendersThatShareALinkWithTheChainCount) {
  const CallbackIndex from = timer();
  const CallbackIndex to = subscription();
  over_link(0, from, to);
  stream_over(0);
  stream_over(1);
  builder_.chain({from, to});
  EXPECT_EQ(of_chain(), (Executors{ExecutorIndex{0}, ExecutorIndex{1}, ExecutorIndex{2}}));
}

TEST_F(InfluenceOverLinksTest, SoDoThoseThatShareOneWithSampledMessagesOfTheChain) {
  const CallbackIndex from = timer();
  const CallbackIndex sampling = timer();
  over_link(0, from, sampling);
  over_link(1, timer(), sampling);  // another link, beside the chain
  stream_over(0);
  builder_.chain({from, sampling});
  EXPECT_EQ(of_chain(), (Executors{ExecutorIndex{0}, ExecutorIndex{1}, ExecutorIndex{3}}));
}

TEST_F(InfluenceOverLinksTest, SoDoThoseThatShareOneWithMessagesToOthersOnTheExecutors) {
  const CallbackIndex alone = timer();
  const CallbackIndex beside = builder_.subscription(ExecutorIndex{0}, ms(1));
  over_link(0, timer(), beside);
  stream_over(0);
  builder_.chain({alone});
  EXPECT_EQ(of_chain(), (Executors{ExecutorIndex{0}, ExecutorIndex{1}, ExecutorIndex{2}}));
}

}  // namespace
}  // namespace takt::budget
