#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"

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

/// Its messages wait for a thread, or for a callback that other messages activate.
TEST(Chains, OverInferredEdgesToOthersThanTimersHaveNoBound) {
  const auto read = model::parse(R"({"format": "takt/model", "version": 1,
    "executors": [{"id": "e"}, {"id": "thread", "kind": "event_source"}],
    "callbacks": [
      {"id": "a", "executor": "e", "kind": "timer", "execution_time": {"curve": [10]},
       "activation": {"kind": "periodic", "period": 1000}},
      {"id": "b", "executor": "e", "kind": "timer", "execution_time": {"curve": [10]},
       "activation": {"kind": "periodic", "period": 1000}},
      {"id": "kept", "executor": "e", "kind": "subscription", "execution_time": {"curve": [10]}},
      {"id": "passing", "executor": "e", "kind": "subscription",
       "execution_time": {"curve": [10]}},
      {"id": "taking", "executor": "thread", "kind": "event_source",
       "execution_time": {"curve": [10]},
       "activation": {"kind": "min_distance", "values": [0, 500]}}],
    "edges": [{"from": "a", "to": "kept"}, {"from": "b", "to": "passing"},
              {"from": "kept", "to": "passing", "confidence": 99},
              {"from": "kept", "to": "taking", "confidence": 99}],
    "chains": [{"id": "1", "callbacks": ["a", "kept", "passing"]},
               {"id": "2", "callbacks": ["a", "kept", "taking"]},
               {"id": "3", "callbacks": ["b", "passing"]}]})",
                                 "test");
  ASSERT_TRUE(read) << read.error().message;
  model::Model model = read->model;
  const auto bounds = analyze(model);
  for (const std::size_t chain : {0u, 1u}) {
    const std::string reason =
        fmt::format("nothing limits how long messages of \"kept\" wait until \"{}\" takes them",
                    chain == 0 ? "passing" : "taking");
    EXPECT_EQ(bounds.chains[chain].bound, std::nullopt);
    EXPECT_EQ(bounds.chains[chain].reason, reason);
    EXPECT_EQ(bounds.chains[chain].reaction_time_reason, reason);
    EXPECT_EQ(bounds.chains[chain].data_age_reason, reason);
  }
  // The edges activate nothing.
  model.edges.resize(2);
  model.chains = {model.chains[2]};
  EXPECT_EQ(bounds.chains[2].bound, analyze(model).chains[0].bound);
}

/// A timer whose data, there `latency` after its activation at the latest, another timer samples.
struct Sampled {
  model::PeriodicActivation source;
  model::PeriodicActivation sampler;
  Duration latency{};

  [[nodiscard]] Bounds bounds(Method method) const {
    ModelBuilder builder;
    const auto from = builder.timer(builder.executor(), latency, source);
    const auto to = builder.timer(builder.executor(), Duration{1}, sampler);
    builder.chain({from, to});
    return analyze(builder.model(), {.method = method});
  }
  [[nodiscard]] Duration wait(Method method = Method::exact) const {
    return bounds(method).chains[0].segments[1].sampling;
  }
};

TEST(Chains, KnownPhasesLimitHowLongDataWaits) {
  Sampled sampled{.source = {.period = Duration{100}, .phase = Duration{30}},
                  .sampler = {.period = Duration{100}, .phase = Duration{80}},
                  .latency = Duration{13}};
  const Bounds bounds = sampled.bounds(Method::exact);
  EXPECT_EQ(bounds.chains[0].segments[1].sampling, Duration{80 - 43});
  EXPECT_EQ(bounds.chains[0].bound, Duration{13 + 37 + 1});
  EXPECT_TRUE(bounds.depends_on_phases);
  EXPECT_EQ(sampled.wait(Method::combined), Duration{100}) << "other analyses admit all phases";
  // The next instance is due just when the data comes, and may not see it.
  sampled.sampler.phase = Duration{43};
  EXPECT_EQ(sampled.wait(), Duration{100});
  sampled.sampler.phase = std::nullopt;
  EXPECT_EQ(sampled.wait(), Duration{100});
  EXPECT_FALSE(sampled.bounds(Method::exact).depends_on_phases);
}

TEST(Chains, DataWaitsAsLongAsPhasesAndJitterAdmit) {
  std::mt19937 random(17);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same models in every run
  const auto draw = [&](std::int64_t least, std::int64_t most) {
    return Duration{std::uniform_int_distribution(least, most)(random)};
  };
  for (int n = 0; n < 300; ++n) {
    Sampled sampled{.source = {.period = draw(8, 20), .jitter = draw(0, 3)},
                    .sampler = {.period = draw(8, 20), .jitter = draw(0, 3)},
                    .latency = draw(1, 8)};
    sampled.source.phase = draw(0, sampled.source.period.count() - 1);
    sampled.sampler.phase = draw(0, sampled.sampler.period.count() - 1);
    const Duration cycle{std::lcm(sampled.source.period.count(), sampled.sampler.period.count())};
    // From any activation to the activation of the instance that reads the data.
    Duration longest{0};
    for (Duration due = *sampled.source.phase; due < cycle; due += sampled.source.period) {
      for (Duration late{0}; late <= sampled.source.jitter; ++late) {
        Duration reads = *sampled.sampler.phase;
        while (reads <= due + late + sampled.latency) reads += sampled.sampler.period;
        longest = std::max(longest, reads + sampled.sampler.jitter - due - late);
      }
    }
    const Duration bound = sampled.latency + sampled.wait();
    EXPECT_GE(bound, longest);
    if (sampled.source.jitter == Duration{0}) {
      EXPECT_EQ(bound, longest);
    }
  }
}

}  // namespace
}  // namespace takt::analysis
