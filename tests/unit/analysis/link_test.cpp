#include <gtest/gtest.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/explanation.hpp"

/// Messages on links: fixed priorities with deferred preemption (docs/analysis-theory.md, Links).
namespace takt::analysis {
namespace {

using model::CallbackIndex;

/// Callbacks take 1 ns on processors of their own, so that the link is what counts: a byte takes
/// 1 ns, a chunk of 100 of them 105.
class LinkModel {
 public:
  LinkModel() {
    builder.model().links.push_back({.id = "wire",
                                     .bandwidth = 8'000'000'000,
                                     .chunk_bytes = 100,
                                     .overhead = Duration{5},
                                     .unknown = {}});
  }

  /// A timer whose messages of that size go over the link; and the chain to their receiver.
  void stream(std::int64_t priority, std::int64_t bytes, Duration period) {
    const CallbackIndex from = builder.timer(builder.executor(), epsilon, model::every(period));
    const CallbackIndex to = builder.subscription(builder.executor(), epsilon);
    model::Edge& edge = builder.edge(from, to);
    edge.link = model::LinkIndex{0};
    edge.priority = priority;
    edge.message_size = bytes;
    builder.chain({from, to});
  }

  model::ModelBuilder builder;
};

TEST(LinkBounds, AnUrgentMessageWaitsForOneChunk) {
  LinkModel link;
  link.stream(2, 10, Duration{1000});
  link.stream(1, 1000, Duration{4000});
  const Bounds bounds = analyze(link.builder.model());
  ASSERT_EQ(bounds.links.size(), 2U);
  EXPECT_EQ(bounds.links[0].bound, Duration{105 + 15});
  EXPECT_EQ(bounds.links[0].by, "link");
  EXPECT_EQ(bounds.links[0].link, "wire");
  EXPECT_EQ(bounds.links[0].from, "c0");
  EXPECT_EQ(bounds.links[0].to, std::vector<std::string>{"c1"});
}

/// Ten chunks, of which the last begins once 945 ns of the others and the urgent messages until
/// then are through: at 945 + 12 · 15, before the thirteenth comes. What comes during the last
/// chunk waits. Preempted anywhere it would take 1050 + 13 · 15.
TEST(LinkBounds, NothingPreemptsTheLastChunk) {
  LinkModel link;
  link.stream(2, 10, Duration{100});
  link.stream(1, 1000, Duration{4000});
  EXPECT_EQ(analyze(link.builder.model()).links[1].bound, Duration{945 + 12 * 15 + 105});
}

TEST(LinkBounds, EqualsGoInTheirOrder) {
  LinkModel link;
  link.stream(1, 10, Duration{2000});
  link.stream(1, 250, Duration{2000});
  const Bounds bounds = analyze(link.builder.model());
  EXPECT_EQ(bounds.links[0].bound, Duration{105 + 105 + 55 + 15});
  EXPECT_EQ(bounds.links[1].bound, Duration{15 + 105 + 105 + 55});
}

/// One message is late for 950 ns before it reaches the link, the next one is not, and comes 50 ns
/// after it: it waits for 105 - 50. The receiver gets both as close together as the link can.
TEST(LinkBounds, CountWhatDelaysBeforeTheLinkBunch) {
  LinkModel link;
  link.stream(1, 100, Duration{1000});
  EXPECT_EQ(analyze(link.builder.model()).links[0].bound, Duration{105});
  link.builder.model().edges[0].delay = Duration{950};
  const Bounds bounds = analyze(link.builder.model());
  EXPECT_EQ(bounds.links[0].bound, Duration{105 + 105 - 50});
  // In a chain the delay counts once, wherever it passes.
  EXPECT_EQ(bounds.chains[0].segments[1].delay, Duration{950 + 160});
}

TEST(LinkBounds, AreDelaysInChains) {
  LinkModel link;
  link.stream(2, 10, Duration{1000});
  link.stream(1, 1000, Duration{4000});
  link.builder.model().edges[0].delay = Duration{30};
  const model::Model& model = link.builder.model();
  const Bounds bounds = analyze(model);
  const ChainBound& chain = bounds.chains[0];
  ASSERT_EQ(chain.segments.size(), 2U);
  EXPECT_EQ(chain.segments[1].delay, Duration{120 + 30});
  EXPECT_EQ(chain.bound, epsilon + Duration{120 + 30} + epsilon);
  ASSERT_EQ(bounds.callbacks.size(), model.callbacks.size());

  const auto explained = explain(model, "chain0");
  ASSERT_TRUE(explained);
  ASSERT_EQ(explained->segments.size(), 3U);
  EXPECT_EQ(explained->segments[1].executor, "wire");
  EXPECT_EQ(explained->bound, *chain.bound);
  EXPECT_EQ(explained->dominating().kind, Explanation::Kind::blocking);
  EXPECT_EQ(explained->dominating().time, Duration{105});
}

TEST(LinkBounds, OfAnOverloadedLinkThereAreNone) {
  LinkModel link;
  link.stream(2, 100, Duration{200});
  link.stream(1, 1000, Duration{2000});
  const Bounds bounds = analyze(link.builder.model());
  EXPECT_TRUE(bounds.links[0].bound) << "what is urgent still comes";
  EXPECT_FALSE(bounds.links[1].bound);
  EXPECT_EQ(bounds.links[1].reason, "link \"wire\" is to carry 1.05 of what it can carry");
  EXPECT_FALSE(bounds.chains[1].bound);
}

/// Of the link a receiver on an executor of priorities inherits nothing.
TEST(LinkBounds, PrioritiesOnTheLinkAreNoneOfCallbacks) {
  LinkModel link;
  model::ModelBuilder& builder = link.builder;
  const CallbackIndex from =
      builder.timer(builder.executor(model::DedicatedSupply{}, model::ExecutorKind::fixed_priority),
                    epsilon, model::every(Duration{1000}));
  const auto receiving =
      builder.executor(model::DedicatedSupply{}, model::ExecutorKind::fixed_priority);
  const CallbackIndex to = builder.subscription(receiving, Duration{20});
  const CallbackIndex other = builder.timer(receiving, Duration{50}, model::every(Duration{1000}));
  builder.model().callbacks[from.value()].priority = 1;
  builder.model().callbacks[other.value()].priority = 5;
  model::Edge& edge = builder.edge(from, to);
  edge.link = model::LinkIndex{0};
  edge.priority = 99;
  EXPECT_EQ(analyze(builder.model()).callbacks[to.value()].bound, Duration{70});
}

TEST(LinkBounds, FollowChanges) {
  LinkModel link;
  link.stream(2, 10, Duration{1000});
  link.stream(1, 1000, Duration{4000});
  Analyzer analyzer(link.builder.model());
  EXPECT_EQ(analyzer.bounds().links[0].bound, Duration{120});
  analyzer.set_activation(CallbackIndex{0}, model::every(Duration{100}));
  analyzer.set_execution_time(CallbackIndex{1}, {Duration{40}});
  model::Model changed = link.builder.model();
  changed.callbacks[0].activation = model::every(Duration{100});
  changed.callbacks[1].execution_time = {Duration{40}};
  EXPECT_EQ(analyzer.model(), changed);
  Bounds afresh = analyze(changed);
  Bounds followed = analyzer.bounds();
  EXPECT_EQ(followed.links, afresh.links);
  EXPECT_EQ(followed.callbacks, afresh.callbacks);
  EXPECT_EQ(followed.chains, afresh.chains);
}

}  // namespace
}  // namespace takt::analysis
