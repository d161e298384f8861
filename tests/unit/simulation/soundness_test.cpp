#include "takt/soundness/soundness.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "takt/model/json.hpp"
#include "takt/model/names.hpp"

namespace takt::soundness {
namespace {

using analysis::Method;
using enum model::ExecutorKind;

/// How many random models; the environment may ask for more. tests/hunt goes on for longer, with
/// progress.
std::size_t models() {
  const char* hunt = std::getenv("TAKT_SOUNDNESS_MODELS");
  return hunt == nullptr ? 300 : static_cast<std::size_t>(std::atoi(hunt));
}

void check(const generation::Shape& shape, Method method, std::uint64_t first_seed) {
  Tally tally;
  const auto found = hunt(shape, method, first_seed, models(), tally);
  ASSERT_FALSE(found.has_value()) << "seed " << found->seed << ": " << found->violation << "\n"
                                  << model::to_json(found->model);
  EXPECT_GE(tally.bounds, 500U) << "a property of nothing";
  const double tightness = tally.tightness / static_cast<double>(tally.bounds);
  testing::Test::RecordProperty("tightness", std::to_string(tightness));
  std::printf(
      "%zu bounds, mean observed / bound %.3f; %zu of %zu simulations overloaded, %zu models that "
      "cannot run\n",
      tally.bounds, tightness, tally.overloaded, tally.simulations, tally.cannot_run);
}

TEST(Soundness, OfTheRoundRobinAnalysis) {
  check(generation::any_model(single_threaded), Method::round_robin, 1'000'000);
}
TEST(Soundness, OfTheBusyWindowAnalysis) {
  check(generation::any_model(single_threaded), Method::busy_window, 2'000'000);
}

/// All executors of the models are of that kind.
class SoundnessOf : public testing::TestWithParam<model::ExecutorKind> {};

TEST_P(SoundnessOf, TheAnalysis) {
  check(generation::any_model(GetParam()), Method::combined, 4'000'000);
}

TEST_P(SoundnessOf, TheTightAnalysis) {
  check(generation::any_model(GetParam()), Method::tight, 7'000'000);
}

INSTANTIATE_TEST_SUITE_P(Executors, SoundnessOf, testing::ValuesIn(all_kinds().list()),
                         [](const auto& test) {
                           return std::string(model::to_string(test.param));
                         });

/// The control: a hunt that does not find this finds nothing. The formula printed in DAC 2022 is
/// not safe (edf-executor 5.5).
TEST(Soundness, OfAnUnsafeAnalysisIsRefuted) {
  Tally tally;
  const auto found = hunt(generation::any_model(edf), Method::edf_paper, 6'000'000, 2'000, tally);
  ASSERT_TRUE(found.has_value());
  EXPECT_FALSE(found->violation.empty());
}

/// The same for each order of what is ready together: whoever takes it for a stricter one is
/// refuted.
TEST(Soundness, OfAStricterOrderIsRefuted) {
  using enum model::CallbackOrder;
  const auto with_order = [](model::Model model, model::CallbackOrder order) {
    for (model::Executor& executor : model.executors) executor.order = order;
    for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
      model.callbacks[i].node = i % 2 == 0 ? "/even" : "/odd";
    }
    return model;
  };
  for (const auto& [order, claimed] :
       {std::pair{any_in_category, registered}, std::pair{by_node, registered},
        std::pair{by_node, any_in_category}, std::pair{unknown, any_in_category},
        std::pair{unknown, by_node}}) {
    SCOPED_TRACE(fmt::format("{} for {}", to_string(claimed), to_string(order)));
    generation::Shape shape;
    shape.fewest_callbacks = 4;
    shape.any_source = 20;
    bool refuted = false;
    for (std::uint64_t seed = 1; !refuted && seed < 2'000; ++seed) {
      const model::Model model = generation::random_model(shape, seed);
      refuted = !compare(with_order(model, order), with_order(model, claimed), Method::combined)
                     .violation.empty();
    }
    EXPECT_TRUE(refuted);
  }
}

/// A model that is not simulated shows nothing: only overload is an excuse.
TEST(Soundness, IsNotShownByASimulationThatFails) {
  model::Model model = generation::random_model(generation::any_model(single_threaded), 1);
  EXPECT_EQ(compare(model, Method::combined).violation, "");
  model.executors[0].threads = 1;
  model.executors[0].supply = model::DedicatedSupply{};
  model.executors[0].cpu = 5'000;
  const Comparison comparison = compare(model, Method::combined);
  EXPECT_EQ(comparison.violation, "the simulation failed: cores: 5001 is not between 1 and 4096");
}

TEST(Soundness, OfAllAnalysesTogether) {
  check(generation::any_model(all_kinds()), Method::combined, 5'000'000);
}

/// In these models a response was longest at an offset at which the windows do not change, but what
/// is activated after it does.
TEST(Soundness, BetweenTheOffsetsOfAWindow) {
  for (const std::uint64_t seed : {20'016'217U, 20'027'058U}) {
    Tally tally;
    EXPECT_FALSE(hunt(generation::any_model(single_threaded), Method::tight, seed, 1, tally));
  }
}

TEST(Soundness, OfLinks) {
  generation::Shape shape = generation::any_model(all_kinds());
  shape.link = 70;
  shape.remote_sender = 80;
  shape.most_utilisation = 50;
  check(shape, Method::combined, 6'000'000);
}

}  // namespace
}  // namespace takt::soundness
