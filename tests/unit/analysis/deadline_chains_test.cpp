#include "executors/deadline_chains.hpp"

#include <gmock/gmock.h>

#include <initializer_list>
#include <limits>
#include <list>
#include <vector>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"

/// The deadline-based executor (DAC 2022): the facts of edf-executor 11 that concern its analysis.
namespace takt::analysis {
namespace {

using curves::SupplyBound;
using testing::ElementsAre;

/// Chains with periodic heads; the unit of the facts is a nanosecond here.
class Chains {
 public:
  Chains& add(std::initializer_list<std::int64_t> costs, std::int64_t period,
              std::int64_t deadline) {
    const auto& curve =
        curves_.emplace_back(curves::ActivationCurve::periodic(Duration{period}, Duration{0}));
    const auto& source =
        sources_.emplace_back(curves::ActivationSource{.curve = &curve, .join = nullptr});
    auto& activations = activations_.emplace_back();
    activations.add(source);
    DeadlineChain chain{
        .callbacks = {}, .activations = &activations, .relative_deadline = Duration{deadline}};
    for (const auto cost : costs) {
      chain.callbacks.push_back(
          {.callback = model::CallbackIndex{costs_.size()},
           .cost = &costs_.emplace_back(std::vector{Duration{cost}}, std::vector<Duration>{})});
    }
    chains_.push_back(chain);
    return *this;
  }
  std::vector<std::int64_t> responses(DeadlineBlocking blocking,
                                      SupplyBound supply = SupplyBound::dedicated()) const {
    std::vector<std::int64_t> result;
    Effort effort;
    effort.allow(std::numeric_limits<std::int64_t>::max());
    const SlackSearch search(chains_, supply, blocking, {Duration{100'000'000}, effort});
    for (const DeadlineChain& chain : chains_) {
      const auto [response, window] = search.least_slack(chain);
      EXPECT_EQ(response, search.finish(window) - (window - chain.relative_deadline));
      result.push_back(response.count());
    }
    return result;
  }

 private:
  std::list<curves::ActivationCurve> curves_;
  std::list<curves::ActivationSource> sources_;
  std::list<curves::DerivedCurve> activations_;
  std::list<Cost> costs_;
  std::vector<DeadlineChain> chains_;
};

TEST(EdfExecutorFact, B10_ExampleE1) {
  const Chains chains = std::move(Chains().add({2, 3}, 10, 10).add({4, 4}, 20, 20));
  EXPECT_THAT(chains.responses(DeadlineBlocking::classic), ElementsAre(12, 22));
}

TEST(EdfExecutorFact, B11_ExampleE1WithDeadlineAwareBlocking) {
  const Chains chains = std::move(Chains().add({2, 3}, 10, 10).add({4, 4}, 20, 20));
  EXPECT_THAT(chains.responses(DeadlineBlocking::deadline_aware), ElementsAre(9, 18));
}

TEST(EdfExecutorFact, B12_LeftContinuousDemandWouldSay11) {
  const Chains chains = std::move(Chains().add({2, 3}, 10, 10).add({4, 4}, 20, 20));
  EXPECT_NE(chains.responses(DeadlineBlocking::classic)[0], 11);
}

TEST(EdfExecutorFact, B14_ExampleE2OnAReservation) {
  const Chains chains = std::move(Chains().add({1, 1}, 10, 10).add({2, 1}, 20, 20));
  const auto supply = SupplyBound::reservation(Duration{3}, Duration{5}, Duration{5});
  EXPECT_THAT(chains.responses(DeadlineBlocking::classic, supply), ElementsAre(10, 17));
}

TEST(EdfExecutorFact, B15_ExampleE3) {
  // Tenths of a millisecond.
  const Chains chains =
      std::move(Chains().add({206, 179, 66}, 1000, 1000).add({17, 110, 66, 79}, 1600, 1600));
  EXPECT_THAT(chains.responses(DeadlineBlocking::classic), ElementsAre(657, 980));
  EXPECT_THAT(chains.responses(DeadlineBlocking::deadline_aware), ElementsAre(561, 774));
}

TEST(EdfExecutorFact, B16_PrintedBlockingIsBelowWhatCanHappen) {
  const Chains chains = std::move(Chains().add({3}, 10, 10).add({10}, 40, 40));
  EXPECT_EQ(chains.responses(DeadlineBlocking::paper)[0], 6);
  EXPECT_EQ(chains.responses(DeadlineBlocking::classic)[0], 13);
  EXPECT_EQ(chains.responses(DeadlineBlocking::deadline_aware)[0], 13);
}

TEST(EdfExecutorFact, B21_SingleChainIsNotBlocked) {
  const Chains chains = std::move(Chains().add({5}, 10, 10));
  EXPECT_THAT(chains.responses(DeadlineBlocking::classic), ElementsAre(5));
}

/// Two chains of timers and subscriptions on one deadline-based executor, times in ms.
model::Model two_chains(std::vector<std::vector<std::int64_t>> chains, std::int64_t period) {
  model::ModelBuilder builder;
  const auto e = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::edf);
  for (const auto& costs : chains) {
    std::vector<model::CallbackIndex> callbacks;
    for (const auto cost : costs) {
      const Duration wcet = std::chrono::milliseconds{cost};
      callbacks.push_back(
          callbacks.empty()
              ? builder.timer(e, wcet, model::every(std::chrono::milliseconds{period}))
              : builder.subscription(e, wcet));
    }
    builder.chain(callbacks);
  }
  return builder.model();
}

const std::vector<std::vector<std::int64_t>> table_1{{109, 131, 131},
                                                     {109, 131, 131, 131, 131, 131, 131}};

TEST(EdfExecutorFact, B17_CapsOfTheOverloadedTwoChains) {
  const auto bounds = analyze(two_chains(table_1, 1000), {.method = Method::edf_paper});
  EXPECT_EQ(bounds.chains[0].bound, std::chrono::milliseconds{1371});
  EXPECT_EQ(bounds.chains[1].bound, std::chrono::milliseconds{1895});
  EXPECT_EQ(bounds.chains[0].segments[0].by, "edf_paper");
  const auto sound = analyze(two_chains(table_1, 1000));
  EXPECT_EQ(sound.chains[0].bound, std::nullopt);
  EXPECT_THAT(sound.callbacks[0].reason, testing::HasSubstr("needs 1.27 of a processor"));
}

TEST(EdfExecutorFact, B18_SumOverExecutorsWithDelays) {
  model::ModelBuilder builder;
  const auto a = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::edf);
  const auto b = builder.executor(model::DedicatedSupply{}, model::ExecutorKind::edf);
  const auto first = builder.timer(a, Duration{12}, model::every(Duration{100}));
  const auto second = builder.subscription(b, Duration{7});
  builder.edge(first, second, Duration{1});
  builder.chain({first, second});
  builder.chain({first});
  const Bounds bounds = analyze(builder.model());
  EXPECT_EQ(bounds.chains[0].bound, Duration{12 + 7 + 1});
  EXPECT_EQ(bounds.chains[1].bound, Duration{12});
}

TEST(EdfExecutor, ChainBoundIsThatOfTheSharedDeadline) {
  const auto bounds = analyze(two_chains({{2, 3}, {4, 4}}, 20));
  EXPECT_EQ(bounds.chains[0].bound, std::chrono::milliseconds{13});
  EXPECT_EQ(bounds.chains[1].bound, std::chrono::milliseconds{13});
}

TEST(EdfExecutor, CallbackActivatedOutsideItsChainMayWaitForEver) {
  model::Model model = two_chains({{2, 3}, {4, 4}}, 20);
  model.edges.push_back(model.edges.front());
  model.edges.back().from = model::CallbackIndex{2};
  const auto bounds = analyze(model);
  EXPECT_EQ(bounds.callbacks[0].bound, std::nullopt);
  EXPECT_EQ(bounds.callbacks[0].reason,
            "\"c1\" is activated otherwise than by its chain, for which executor \"e0\" may let it "
            "wait without limit");
}

}  // namespace
}  // namespace takt::analysis
