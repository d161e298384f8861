#include "fixed_point/fixed_point.hpp"

#include <gmock/gmock.h>

#include "system/system.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/generation/random_model.hpp"

namespace takt::analysis {
namespace {

/// Nothing that an executor's analysis keeps from round to round may be out of date at the end: of
/// messages that take time within an executor, curves of its busy windows follow from its bounds.
TEST(FixedPoint, AgreesWithAFreshEvaluation) {
  constexpr generation::Shape shape{.most_executors = 3,
                                    .most_callbacks = 16,
                                    .most_utilisation = 60,
                                    .message_driven = 70,
                                    .second_sender = 40,
                                    .local_delay = 50};
  int compared = 0;
  for (const Method method : {Method::round_robin, Method::busy_window, Method::combined}) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
      const System system(generation::random_model(shape, seed));
      FixedPoint solution(system, {.method = method, .horizon = std::chrono::microseconds{100}});
      solution.solve();
      for (std::size_t c = 0; c < system.tasks.size(); ++c) {
        const CallbackIndex callback{c};
        if (solution.response(callback) == curves::unbounded_time) continue;
        ExecutorAnalysis& executor = *solution.executor(system[callback].executor);
        executor.begin_round();
        EXPECT_EQ(executor.bound(callback).response, solution.response(callback))
            << seed << ", callback " << c;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 2'000);
}

}  // namespace
}  // namespace takt::analysis
