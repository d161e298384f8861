#include <gmock/gmock.h>

#include <limits>

#include "models.hpp"

/// Threads: reservations of their own, and shared cores as Linux shares them.
namespace takt::simulation {
namespace {

using enum model::ExecutorKind;

TEST(Reservation, ThrottlesAThreadUntilItsDeadline) {
  Models models;
  models.executor("e", events, reservation(milliseconds(2), milliseconds(10)));
  models.timer("t", milliseconds(1000), milliseconds(5));
  EXPECT_EQ(models.schedule(milliseconds(100)), "t [0,21)") << "2 at 0, 2 at 10, 1 at 20";
}

TEST(Reservation, GivesAWakingThreadAFreshBudgetOnlyIfTheOldOneIsTooMuch) {
  Models models;
  models.executor("e", events, reservation(milliseconds(4), milliseconds(10)));
  models.timer("a", milliseconds(1000), milliseconds(1));
  models.timer("b", milliseconds(1000), milliseconds(4));
  Options options;
  // At 2, 3 of 4 are left with deadline 10: 3/8 is within 4/10, so they stay; at 5 they run out.
  options.offsets["b"] = milliseconds(2);
  EXPECT_EQ(models.schedule(milliseconds(100), options), "a [0,1) b [2,11)");
  // At 5, 3/5 is above 4/10: a fresh budget with deadline 15.
  options.offsets["b"] = milliseconds(5);
  EXPECT_EQ(models.schedule(milliseconds(100), options), "a [0,1) b [5,9)");
}

TEST(Reservation, WithADeadlineBeforeItsPeriodWaitsForThePeriod) {
  Models models;
  models.executor("e", events,
                  model::ReservationSupply{milliseconds(2), milliseconds(10), milliseconds(4)});
  models.timer("a", milliseconds(1000), milliseconds(1));
  models.timer("b", milliseconds(1000), milliseconds(2));
  Options options;
  // At 2, 1 is left until 4: the revised rule keeps the density, 2/4 of 2 ms: 1; the rest at 10.
  options.offsets["b"] = milliseconds(2);
  EXPECT_EQ(models.schedule(milliseconds(100), options), "a [0,1) b [2,11)");
  // At 6 the deadline has passed, the period has not.
  options.offsets["b"] = milliseconds(6);
  EXPECT_EQ(models.schedule(milliseconds(100), options), "a [0,1) b [6,12)");
}

TEST(Reservation, IsServedAsLateAsItsSupplyBoundAllows) {
  Models models;
  models.executor("e", events, reservation(milliseconds(2), milliseconds(5)));
  models.timer("t", milliseconds(1000), milliseconds(3));
  Options options;
  options.reservation = ReservationModel::latest;
  // Without supply for 2 (P - Q) = 6, then 2 in every 5: sbf(12) = 3.
  EXPECT_EQ(models.schedule(milliseconds(100), options), "t [0,12)");
}

TEST(Reservation, PlacedAtRandomSuppliesAtLeastItsBound) {
  Models models;
  models.executor("e", events, reservation(milliseconds(2), milliseconds(5)));
  models.timer("t", milliseconds(50), milliseconds(3));
  Options options;
  options.reservation = ReservationModel::random;
  for (options.seed = 0; options.seed < 20; ++options.seed) {
    const Simulation simulation = models.run(milliseconds(10'000), options);
    EXPECT_LE(simulation.callbacks[0].response_time.max(), milliseconds(12));
    EXPECT_GE(simulation.callbacks[0].response_time.min(), milliseconds(3));
  }
}

/// Executors "e0", "e1", … each with one timer of that cost in ms, released together.
Models together(std::initializer_list<int> costs) {
  Models models;
  for (const int cost : costs) {
    const std::string number = std::to_string(models.model.executors.size());
    models.executor("e" + number, events);
    models.timer(number, milliseconds(1000), milliseconds(cost));
  }
  return models;
}

TEST(SharedCores, RunTheMoreUrgentFifoThreadFirst) {
  const Models models = together({4, 3, 2});
  Options options;
  options.cores = 1;
  for (const auto& [executor, priority] : {std::pair("e0", 1), {"e1", 2}, {"e2", 3}}) {
    options.threads[executor] = {.policy = ThreadPolicy::fifo, .priority = priority, .cpu = {}};
  }
  options.offsets["2"] = milliseconds(1);
  // 1 begins, 2 preempts it at 1, then 1 goes on to 5, and 0 comes last.
  EXPECT_EQ(models.schedule(milliseconds(50), options), "1 [0,5) 0 [0,9) 2 [1,3)");
}

TEST(SharedCores, RunReservationsByDeadlineBeforeAllOthers) {
  Models models = together({10, 3, 3});
  models.model.executors[1].supply = reservation(milliseconds(3), milliseconds(20));
  models.model.executors[2].supply = reservation(milliseconds(3), milliseconds(10));
  Options options;
  options.cores = 1;
  options.threads["e0"] = {.policy = ThreadPolicy::fifo, .priority = 99, .cpu = {}};
  EXPECT_EQ(models.schedule(milliseconds(50), options), "2 [0,3) 1 [0,6) 0 [0,16)");
}

TEST(SharedCores, ThrottleReservations) {
  Models models = together({10, 6});
  models.model.executors[1].supply = reservation(milliseconds(2), milliseconds(5));
  Options options;
  options.cores = 1;
  // 1 runs 2 at 0, 5 and 10; 0 has the rest: 3, 3 and from 12 on.
  EXPECT_EQ(models.schedule(milliseconds(50), options), "1 [0,12) 0 [0,16)");
}

TEST(SharedCores, TakeTurnsAmongOtherThreads) {
  const Models models = together({4, 4});
  Options options;
  options.cores = 1;
  // Slices of 3 ms: 0 to 3, 1 to 6, 0 to 7, 1 to 8.
  EXPECT_EQ(models.schedule(milliseconds(50), options), "0 [0,7) 1 [0,8)");
}

/// Executors with those priorities on cpu 5, each with one timer of that cost in ms.
Models at_priorities(std::initializer_list<std::pair<int, int>> priorities_and_costs) {
  Models models;
  for (const auto& [priority, cost] : priorities_and_costs) {
    const std::string number = std::to_string(models.model.executors.size());
    models.executor("e" + number, events, model::FixedPrioritySupply{.priority = priority});
    models.model.executors.back().cpu = 5;
    models.timer(number, milliseconds(1000), milliseconds(cost));
  }
  return models;
}

TEST(FixedPriorities, OfTheModelShareTheirCpuAlone) {
  Models models = at_priorities({{1, 4}, {2, 3}, {3, 2}});
  models.executor("elsewhere", events);
  models.timer("other", milliseconds(1000), milliseconds(1));
  Options options;
  options.offsets["2"] = milliseconds(1);
  EXPECT_EQ(models.schedule(milliseconds(50), options), "other [0,1) 1 [0,5) 0 [0,9) 2 [1,3)");
  // Where the options say which cores there are, the model's priorities hold unless they say
  // otherwise.
  options.cores = 6;
  options.threads["elsewhere"].cpu = 0;
  EXPECT_EQ(models.schedule(milliseconds(50), options), "other [0,1) 1 [0,5) 0 [0,9) 2 [1,3)");
  options.threads["e0"] = {.policy = ThreadPolicy::fifo, .priority = 9, .cpu = {}};
  EXPECT_EQ(models.schedule(milliseconds(50), options), "other [0,1) 0 [0,4) 1 [0,9) 2 [1,6)");
}

TEST(FixedPriorities, RunEqualThreadsInTheOrderInWhichTheyWake) {
  const Models models = at_priorities({{5, 4}, {5, 3}, {5, 2}});
  Options options;
  options.offsets["0"] = milliseconds(1);
  options.offsets["1"] = milliseconds(2);
  EXPECT_EQ(models.schedule(milliseconds(50), options), "2 [0,2) 0 [1,6) 1 [2,9)");
}

TEST(FixedPriorities, ComeAfterReservationsAndBeforeAllOthers) {
  Models models = at_priorities({{99, 4}});
  models.executor("reserved", events, reservation(milliseconds(2), milliseconds(5)));
  models.model.executors.back().cpu = 5;
  models.timer("r", milliseconds(1000), milliseconds(3));
  models.executor("best effort", events);
  models.model.executors.back().cpu = 5;
  models.timer("b", milliseconds(1000), milliseconds(1));
  EXPECT_EQ(models.schedule(milliseconds(50)), "r [0,6) 0 [0,7) b [0,8)");
}

TEST(FixedPriorities, LackWhatTheKernelWithholds) {
  for (const bool shares : {false, true}) {
    Models models;
    models.executor(
        "e", events,
        model::FixedPrioritySupply{
            .priority = 1, .withheld = milliseconds(2), .withheld_period = milliseconds(10)});
    if (shares) models.model.executors[0].cpu = 0;
    models.timer("t", milliseconds(1000), milliseconds(13));
    Options options;
    // The last 2 of each 10.
    EXPECT_EQ(models.schedule(milliseconds(100), options), "t [0,15)");
    // 2 at once, 2 right after, and the first 2 of each 10 from there on: [12, 14).
    options.reservation = ReservationModel::latest;
    EXPECT_EQ(models.schedule(milliseconds(100), options), "t [0,19)");
    options.reservation = ReservationModel::random;
    for (options.seed = 0; options.seed < 20; ++options.seed) {
      const Simulation simulation = models.run(milliseconds(100), options);
      EXPECT_GE(simulation.callbacks[0].response_time.max(), milliseconds(13));
      EXPECT_LE(simulation.callbacks[0].response_time.max(), milliseconds(19));
    }
  }
}

TEST(SharedCores, LetThreadsMigrateUnlessPinned) {
  Models models = together({4, 4, 4});
  Options options;
  options.cores = 2;
  for (const char* executor : {"e0", "e1", "e2"}) {
    options.threads[executor] = {.policy = ThreadPolicy::fifo, .priority = 1, .cpu = {}};
  }
  EXPECT_EQ(models.schedule(milliseconds(50), options), "0 [0,4) 1 [0,4) 2 [0,8)");
  models.model.executors[0].cpu = 1;
  models.model.executors[1].cpu = 1;
  EXPECT_EQ(models.schedule(milliseconds(50), options), "0 [0,4) 2 [0,4) 1 [0,8)");
}

TEST(SharedCores, AreAsGoodAsOwnOnesIfThereAreEnough) {
  Models models = together({4, 3, 2});
  models.subscription("after", milliseconds(5), {"0", "1"});
  models.model.executors[1].supply = reservation(milliseconds(2), milliseconds(5));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Options options;
    options.seed = seed;
    options.releases = ReleaseModel::random;
    const std::string own = models.schedule(milliseconds(20'000), options);
    options.cores = 3;
    EXPECT_EQ(models.schedule(milliseconds(20'000), options), own);
  }
}

TEST(SharedCores, HaveThePrioritiesOfLinux) {
  Models models;
  models.executor("e", events).timer("t", milliseconds(10), milliseconds(1));
  Options options;
  options.cores = 1;
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t priority : {least, std::int64_t{0}, std::int64_t{100}}) {
    options.threads["e"] = {.policy = ThreadPolicy::fifo, .priority = priority, .cpu = {}};
    EXPECT_EQ(simulate(models.model, options).error().message,
              fmt::format("threads[\"e\"].priority: {} is not between 1 and 99", priority));
  }
}

}  // namespace
}  // namespace takt::simulation
