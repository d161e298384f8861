#include <gmock/gmock.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// Chains through several executors (ros-llama S-3.7).
namespace takt::analysis {
namespace {

using model::ModelBuilder;

TEST(Chains, SegmentsAddUpWithDelays) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto sensor = builder.timer(a, Duration{10}, model::every(Duration{1000}));
  const auto filter = builder.subscription(a, Duration{20});
  const auto plan = builder.subscription(b, Duration{40});
  const auto drive = builder.subscription(b, Duration{80});
  builder.edge(filter, plan, Duration{5});
  builder.chain({sensor, filter, plan, drive});
  const auto bounds = analyze(builder.model());
  const ChainBound& chain = bounds.chains[0];
  ASSERT_EQ(chain.segments.size(), 2U);
  EXPECT_EQ(chain.segments[0].bound, Duration{30});
  EXPECT_EQ(chain.segments[0].delay, Duration{0});
  EXPECT_EQ(chain.segments[1].bound, Duration{120});
  EXPECT_EQ(chain.segments[1].delay, Duration{5});
  EXPECT_EQ(chain.bound, Duration{155});
  EXPECT_EQ(chain.met(), std::nullopt);
}

TEST(Chains, ReturnToAnExecutorIsASegmentOfItsOwn) {
  ModelBuilder builder;
  const auto a = builder.executor();
  const auto b = builder.executor();
  const auto ask = builder.timer(a, Duration{10}, model::every(Duration{1000}));
  const auto answer = builder.subscription(b, Duration{20});
  const auto use = builder.subscription(a, Duration{30});
  builder.chain({ask, answer, use});
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.chains[0].segments.size(), 3U);
  // use may wait for ask's next instance and conversely, but here they never meet within a window.
  EXPECT_EQ(bounds.chains[0].bound,
            *bounds.callbacks[0].bound + *bounds.callbacks[1].bound + *bounds.callbacks[2].bound);
}

TEST(Chains, TimerThatSamplesAddsItsLongestGap) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto source = builder.event_source(Duration{10}, model::every(Duration{1000}));
  const auto sampler = builder.timer(
      e, Duration{20}, model::PeriodicActivation{.period = Duration{300}, .jitter = Duration{7}});
  builder.edge(source, sampler, Duration{3});
  builder.chain({source, sampler}, Duration{339});
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.chains[0].bound, Duration{10 + 3 + 307 + 20});
  EXPECT_EQ(bounds.chains[0].segments[1].sampling, Duration{307});
  EXPECT_EQ(bounds.chains[0].met(), false);
  // The timer's own activations are untouched by what it samples.
  EXPECT_EQ(bounds.callbacks[1].bound, Duration{20});
}

TEST(Chains, SporadicSamplerHasNoLongestGap) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto source = builder.event_source(Duration{10}, model::every(Duration{1000}));
  const auto sampler =
      builder.timer(e, Duration{20}, model::SporadicActivation{Duration{300}, Duration{0}});
  builder.chain({source, sampler});
  const auto bounds = analyze(builder.model());
  EXPECT_EQ(bounds.chains[0].bound, std::nullopt);
  EXPECT_EQ(
      bounds.chains[0].reason,
      "\"c1\" samples what \"c0\" sends, and nothing limits the time between its activations; "
      "a periodic activation would");
}

}  // namespace
}  // namespace takt::analysis
