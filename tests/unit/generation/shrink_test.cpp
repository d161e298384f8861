#include "takt/generation/shrink.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "takt/generation/random_model.hpp"
#include "takt/model/validate.hpp"

namespace takt::generation {
namespace {

/// A model of 40 callbacks shrinks to what fails and what that needs to be valid.
TEST(Shrink, LeavesOutWhatDoesNotMatter) {
  Shape shape = any_model({model::ExecutorKind::events, model::ExecutorKind::table_driven});
  shape.fewest_callbacks = shape.most_callbacks = 40;
  const auto has_joined_delay = [](const model::Model& model) {
    EXPECT_TRUE(model::validate(model, "candidate"));
    return std::ranges::any_of(model.edges, [&](const model::Edge& edge) {
      return edge.delay >= Duration{3} &&
             std::ranges::count(model.joins, edge.to, &model::Join::callback) > 0;
    });
  };
  int shrunk = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const model::Model model = random_model(shape, seed);
    if (!has_joined_delay(model)) continue;
    ++shrunk;
    const model::Model small = shrink(model, has_joined_delay);
    ASSERT_TRUE(has_joined_delay(small));
    EXPECT_LE(small.callbacks.size(), 3U);
    EXPECT_LE(small.executors.size(), 2U);
    EXPECT_LE(small.edges.size(), 2U);
    for (const model::Edge& edge : small.edges) {
      EXPECT_THAT(edge.delay, testing::AnyOf(Duration{0}, Duration{3}));
    }
    EXPECT_TRUE(small.chains.empty());
    for (const model::Callback& callback : small.callbacks) {
      EXPECT_EQ(callback.execution_time, std::vector{epsilon});
    }
  }
  EXPECT_GT(shrunk, 5) << "too few models have a delay into a join";
}

}  // namespace
}  // namespace takt::generation
