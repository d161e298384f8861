#include <gmock/gmock.h>

#include "models.hpp"

/// The time that releases take from the thread of an executor of events (component-cps 3.7).
namespace takt::simulation {
namespace {

using enum model::ExecutorKind;

Models with_releaser(model::Supply supply = model::DedicatedSupply{}) {
  Models models;
  models.executor("e", events, supply);
  models.model.executors.back().release_overhead = milliseconds(2);
  return models;
}

TEST(ReleaseOverhead, ComesBeforeTheInstance) {
  Models models = with_releaser();
  models.timer("a", milliseconds(20), milliseconds(5));
  const Simulation simulation = models.run(milliseconds(100));
  EXPECT_EQ(simulation.callbacks[0].response_time.min(), milliseconds(7));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(7));
}

/// Both are released at 0; a's next at 10, while b runs, which began at 4 + 3.
TEST(ReleaseOverhead, LengthensWhatRuns) {
  Models models = with_releaser();
  models.timer("a", milliseconds(10), milliseconds(3));
  models.timer("b", milliseconds(100), milliseconds(6));
  const Simulation simulation = models.run(milliseconds(20));
  EXPECT_EQ(simulation.callbacks[1].response_time.max(), milliseconds(2 + 2 + 3 + 6 + 2));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(5 + 3)) << "it waits for b";
}

/// The message delays what comes after a, and itself; what a timer samples takes nothing.
TEST(ReleaseOverhead, OfMessages) {
  Models models = with_releaser();
  models.timer("a", milliseconds(100), milliseconds(5));
  models.subscription("b", milliseconds(1), {"a"});
  models.executor("f", events).timer("c", milliseconds(100), milliseconds(3));
  models.edge("a", "c");
  const Simulation simulation = models.run(milliseconds(100));
  EXPECT_EQ(simulation.callbacks[0].response_time.max(), milliseconds(7));
  EXPECT_EQ(simulation.callbacks[1].response_time.max(), milliseconds(2 + 1));
  EXPECT_EQ(simulation.callbacks[2].response_time.max(), milliseconds(3));
}

/// The sender c ends in the same instant as a, and is looked at first.
TEST(ReleaseOverhead, DoesNotLengthenWhatEndsInTheSameInstant) {
  Models models;
  models.executor("f", events).timer("c", milliseconds(100), milliseconds(7));
  models.executor("e", events).timer("a", milliseconds(100), milliseconds(5));
  models.model.executors.back().release_overhead = milliseconds(2);
  models.subscription("b", milliseconds(1), {"c"});
  const Simulation simulation = models.run(milliseconds(100));
  EXPECT_EQ(simulation.callbacks[1].response_time.max(), milliseconds(7));
  EXPECT_EQ(simulation.callbacks[2].response_time.max(), milliseconds(2 + 1));
}

TEST(ReleaseOverhead, IsSupplied) {
  Models models =
      with_releaser(model::ReservationSupply{milliseconds(4), milliseconds(10), milliseconds(10)});
  models.timer("a", milliseconds(50), milliseconds(5));
  // 4 in the first period, 3 in the second.
  EXPECT_EQ(models.run(milliseconds(50)).callbacks[0].response_time.max(), milliseconds(13));
}

TEST(ReleaseOverhead, OnSharedCores) {
  Models models = with_releaser();
  models.timer("a", milliseconds(20), milliseconds(5));
  Options options;
  options.cores = 1;
  EXPECT_EQ(models.run(milliseconds(100), options).callbacks[0].response_time.max(),
            milliseconds(7));
}

}  // namespace
}  // namespace takt::simulation
