#include "takt/budget/search.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/budget/document.hpp"
#include "takt/budget/influence.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/json.hpp"
#include "takt/model/validate.hpp"

/// The search for reservations.
namespace takt::budget {
namespace {

using model::ExecutorIndex;
using model::ModelBuilder;
using State = ChainPlan::State;

/// A timer on one executor activates a subscription on another.
ModelBuilder relay(Duration goal) {
  ModelBuilder builder;
  const auto first = builder.executor();
  const auto second = builder.executor();
  const auto timer = builder.timer(first, ms(2), model::every(ms(50)));
  const auto subscription = builder.subscription(second, ms(4));
  builder.chain({timer, subscription}, goal);
  return builder;
}

ReservationPlan plan_of(const model::Model& model, const Options& options = {}) {
  auto plan = search(model, options);
  EXPECT_TRUE(plan.has_value()) << plan.error().message;
  return std::move(*plan);
}

/// Every goal is met, and every callback of an executor with a reservation has a bound if it has
/// one on a whole core.
bool all_met(const model::Model& model, const ReservationPlan& plan) {
  const auto bounds = analysis::analyze(model, {.horizon = std::chrono::seconds{10}});
  model::Model whole = model;
  for (model::Executor& executor : whole.executors) executor.supply = model::DedicatedSupply{};
  const auto best = analysis::analyze(whole, {.horizon = std::chrono::seconds{10}});
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const auto& supply = model[model.callbacks[c].executor].supply;
    if (!std::holds_alternative<model::ReservationSupply>(supply)) continue;
    if (best.callbacks[c].bound && !bounds.callbacks[c].bound) return false;
  }
  return std::ranges::all_of(plan.chains, [&](const ChainPlan& chain) {
    return chain.state != State::guaranteed || bounds.chains[chain.chain].met().value();
  });
}

double bandwidth(const model::Model& model, const ReservationPlan& plan) {
  double sum = 0;
  for (const Reservation& r : plan.reservations) {
    sum += static_cast<double>(model[r.executor].threads) * static_cast<double>(r.budget.count()) /
           static_cast<double>(r.period.count());
  }
  return sum;
}

/// Models of milliseconds, with goals `slack` percent above what whole cores can do.
model::Model random_system(std::uint64_t seed, int slack) {
  generation::Shape shape;
  shape.fewest_executors = 2;
  shape.most_executors = 4;
  shape.most_callbacks = 10;
  shape.most_chains = 3;
  shape.shortest_period = ms(10);
  shape.longest_period = ms(100);
  shape.least_utilisation = 2;
  shape.most_utilisation = 15;
  shape.shortest_reservation_period = ms(5);
  shape.longest_reservation_period = ms(10);
  shape.longest_overhead = std::chrono::microseconds{50};
  model::Model model = generation::random_model(shape, seed);
  for (model::Executor& executor : model.executors) {
    executor.cpu.reset();
    if (!std::holds_alternative<model::ReservationSupply>(executor.supply)) {
      executor.supply = model::DedicatedSupply{};
    }
  }
  if (model.chains.empty()) {
    model.chains.push_back(
        {"first", {model::CallbackIndex{0}}, std::nullopt, std::nullopt, model::UnknownFields{}});
  }
  const auto best = [&] {
    model::Model whole = model;
    for (model::Executor& executor : whole.executors) executor.supply = model::DedicatedSupply{};
    return analysis::analyze(whole);
  }();
  std::int64_t rank = 1;
  for (std::size_t c = 0; c < model.chains.size(); ++c) {
    model.chains[c].rank = rank++;
    model.chains[c].goal = best.chains[c].bound.value_or(ms(100)) * (100 + slack) / 100 + ms(10);
  }
  return model;
}

TEST(Search, GivesTheSmallestBudgetsOfARelay) {
  const model::Model model = relay(ms(60)).model();
  const ReservationPlan plan = plan_of(model);
  EXPECT_TRUE(plan.complete());
  ASSERT_EQ(plan.reservations.size(), 2U);
  EXPECT_EQ(plan.mapping, Mapping::Kind::global);
  EXPECT_LE(*plan.chains.front().bound, ms(60));
  // 2 ms in 50 ms and 4 ms in 50 ms are the least that any budgets can be.
  EXPECT_GE(plan.reservations[0].budget, std::chrono::microseconds{200});
  EXPECT_GE(plan.reservations[1].budget, std::chrono::microseconds{400});
  EXPECT_LT(bandwidth(model, plan), 1.0);
}

TEST(Search, SaysWhatAChainNeedsThatNoCoreIsFastEnoughFor) {
  const model::Model model = relay(ms(5)).model();
  const ReservationPlan plan = plan_of(model);
  EXPECT_FALSE(plan.complete());
  EXPECT_TRUE(plan.reservations.empty());
  const ChainPlan& chain = plan.chains.front();
  EXPECT_EQ(chain.state, State::not_possible);
  ASSERT_TRUE(chain.needs.has_value());
  // With 4.5 ms in every 5 ms, all that a core grants, each callback also waits for 1 ms.
  EXPECT_EQ(chain.needs->least_bound, ms(8));
  EXPECT_EQ(chain.needs->goal, ms(8));
  EXPECT_FALSE(chain.needs->cores.has_value());
  ASSERT_TRUE(chain.needs->execution_time.has_value());
  EXPECT_THAT(chain.needs->execution_time->callbacks,
              testing::ElementsAre(model::CallbackIndex{1}));
  // From 4 ms to 1 ms.
  EXPECT_EQ(chain.needs->execution_time->percent, 25);
  EXPECT_EQ(chain.needs->all_execution_times, 50);
  EXPECT_FALSE(chain.needs->period.has_value());
}

TEST(Search, SaysHowMuchLongerAPeriodHasToBe) {
  ModelBuilder builder;
  const auto executor = builder.executor();
  builder.timer(executor, ms(5), model::every(ms(100)));
  const auto chained = builder.timer(executor, ms(5), model::every(ms(4)));  // more than a core
  builder.chain({chained}, ms(20));
  const ReservationPlan plan = plan_of(builder.model());
  ASSERT_TRUE(plan.chains.front().needs.has_value());
  const Needs& needs = *plan.chains.front().needs;
  EXPECT_FALSE(needs.goal.has_value());
  ASSERT_TRUE(needs.period.has_value());
  EXPECT_EQ(needs.period->callback, model::CallbackIndex{1});
  EXPECT_GT(needs.period->period, ms(5));
  model::Model changed = builder.model();
  changed.callbacks[1].activation = model::every(needs.period->period);
  EXPECT_EQ(*analysis::analyze(changed).chains.front().met(), true);
}

TEST(Search, SaysHowManyCoresAreNeeded) {
  ModelBuilder builder;
  for (int i = 0; i < 3; ++i) {
    const auto executor = builder.executor();
    builder.chain({builder.timer(executor, ms(7), model::every(ms(10)))}, ms(20));
  }
  Options options;
  options.cores.numbers = {0, 1};
  const ReservationPlan plan = plan_of(builder.model(), options);
  EXPECT_EQ(plan.chains[0].state, State::guaranteed);
  EXPECT_EQ(plan.chains[1].state, State::guaranteed);
  EXPECT_EQ(plan.chains[2].state, State::not_possible);
  ASSERT_TRUE(plan.chains[2].needs.has_value());
  EXPECT_EQ(plan.chains[2].needs->cores, 3U);
  options.cores.numbers = {0, 1, 2};
  EXPECT_TRUE(plan_of(builder.model(), options).complete());
}

TEST(Search, RefusesWhatHasNoGoalAndCoresThatAreNotThere) {
  EXPECT_THAT(search(relay(ms(60)).model(), {}).has_value(), true);
  model::Model without = relay(ms(60)).model();
  without.chains.front().goal.reset();
  EXPECT_THAT(search(without, {}).error().message, testing::HasSubstr("no chain has a goal"));
  model::Model pinned = relay(ms(60)).model();
  pinned.executors.front().cpu = 7;
  EXPECT_THAT(search(pinned, {}).error().message, testing::HasSubstr("cpu 7"));
}

TEST(Search, KeepsThePeriodsOfReservationsUnlessToldOtherwise) {
  model::Model model = relay(ms(60)).model();
  model.executors[0].supply = model::ReservationSupply{ms(1), ms(10), ms(10)};
  const ReservationPlan kept = plan_of(model);
  EXPECT_EQ(kept.reservations[0].period, ms(10));
  EXPECT_EQ(kept.reservations[1].period, ms(5));
  Options options;
  options.period = ms(2);
  const ReservationPlan changed = plan_of(model, options);
  EXPECT_EQ(changed.reservations[0].period, ms(2));
  EXPECT_EQ(changed.reservations[1].period, ms(2));
}

// ros-llama S-7, fact 28: every guaranteed chain is within its goal under the enacted budgets,
// which are above a starting point; P = 5 ms.
TEST(Search, Fact28GoalsHoldWithBudgetsThatAreNotLowestYet) {
  Options options;
  options.lower = false;
  options.period = ms(5);
  int above = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const model::Model model = random_system(seed, 30);
    const ReservationPlan plan = plan_of(model, options);
    EXPECT_TRUE(all_met(with_reservations(model, plan), plan)) << seed;
    for (const Reservation& r : plan.reservations) {
      EXPECT_EQ(r.period, ms(5));
      EXPECT_GE(r.budget, r.least) << seed;
      above += r.budget > r.least ? 1 : 0;
    }
  }
  EXPECT_GT(above, 10);
}

/// Whether the model's goals, for the `count` most important chains, hold with some budgets that
/// are multiples of a tenth of what a core grants: all of them are tried.
class BruteForce {
 public:
  BruteForce(const model::Model& model, const Options& options)
      : model_(model),
        options_(options),
        whole_(on_whole_cores(model)),
        analyzer_(whole_, options.analysis),
        best_(analyzer_.bounds()) {}

  bool finds(std::size_t count) {
    std::vector<char> involved(model_.executors.size(), 0);
    for (std::size_t c = 0; c < count; ++c) {
      for (const auto executor : influencing(model_, model_.chains[c]))
        involved[executor.value()] = 1;
    }
    count_ = count;
    tenths_.assign(model_.executors.size(), 0);
    return try_from(0, involved);
  }

 private:
  static model::Model on_whole_cores(model::Model model) {
    for (model::Executor& executor : model.executors) {
      const auto* given = std::get_if<model::ReservationSupply>(&executor.supply);
      const auto reservation =
          given != nullptr ? *given
                           : model::ReservationSupply{ms(5), default_period, default_period};
      executor.supply =
          model::ReservationSupply{reservation.deadline, reservation.period, reservation.deadline};
    }
    return model;
  }

  bool try_from(std::size_t executor, const std::vector<char>& involved) {
    if (executor == tenths_.size()) return holds();
    if (involved[executor] == 0) return try_from(executor + 1, involved);
    for (int tenths = 1; tenths <= 10; ++tenths) {
      tenths_[executor] = tenths;
      if (try_from(executor + 1, involved)) return true;
    }
    return false;
  }

  bool holds() {
    std::vector<Load> loads;
    for (std::size_t e = 0; e < tenths_.size(); ++e) {
      const auto deadline = std::get<model::ReservationSupply>(whole_.executors[e].supply).deadline;
      const double density = options_.cores.capacity * tenths_[e] / 10;
      const Duration budget{
          static_cast<std::int64_t>(density * static_cast<double>(deadline.count()))};
      analyzer_.set_budget(ExecutorIndex{e}, tenths_[e] == 0 ? deadline : budget);
      if (tenths_[e] == 0) continue;
      loads.push_back(
          {.density = density, .threads = static_cast<int>(model_.executors[e].threads)});
    }
    if (!map_to_cores(loads, options_.cores)) return false;
    const analysis::Bounds& bounds = analyzer_.bounds();
    for (std::size_t c = 0; c < count_; ++c) {
      if (!bounds.chains[c].met().value()) return false;
    }
    for (std::size_t c = 0; c < model_.callbacks.size(); ++c) {
      const bool reserved = tenths_[model_.callbacks[c].executor.value()] != 0;
      if (reserved && best_.callbacks[c].bound && !bounds.callbacks[c].bound) return false;
    }
    return true;
  }

  const model::Model& model_;
  const Options& options_;
  model::Model whole_;
  analysis::Analyzer analyzer_;
  analysis::Bounds best_;
  std::size_t count_ = 0;
  /// The budget of each executor; 0: it needs none.
  std::vector<int> tenths_;
};

std::size_t guaranteed(const ReservationPlan& plan) {
  return static_cast<std::size_t>(
      std::ranges::count(plan.chains, State::guaranteed, &ChainPlan::state));
}

TEST(Search, FindsWhatBruteForceFindsAndSaysNotPossibleOnlyWhereItIsNot) {
  int found = 0;
  int missed = 0;
  int not_possible = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const model::Model model = random_system(seed, seed % 2 == 0 ? 30 : 100);
    if (model.executors.size() > 3) continue;
    Options options;
    options.find_needs = false;
    options.lower = false;
    options.cores.numbers = seed % 4 < 2 ? std::vector{0} : std::vector{0, 1};
    options.cores.capacity = seed % 4 < 2 ? 0.9 : 0.5;
    const ReservationPlan plan = plan_of(model, options);
    const std::size_t count = guaranteed(plan);
    found += count > 0 ? 1 : 0;
    if (count == model.chains.size()) continue;
    const bool possible = BruteForce(model, options).finds(count + 1);
    missed += possible ? 1 : 0;
    if (plan.chains[count].state == State::not_possible) {
      EXPECT_FALSE(possible) << seed;
      ++not_possible;
    }
  }
  EXPECT_GT(found, 20);
  EXPECT_GT(not_possible, 10);
  EXPECT_EQ(missed, 0);
}

/// What is said to be enough for a chain, made to the model and the options.
struct Attempt {
  model::Model model;
  Options options;
};

std::vector<Attempt> attempts(const model::Model& model, const Options& options,
                              const ChainPlan& chain) {
  std::vector<Attempt> result;
  const auto change = [&]() -> Attempt& { return result.emplace_back(model, options); };
  const auto make = [&](const std::vector<Change>& changes) {
    Attempt& attempt = change();
    for (const Change& each : changes) EXPECT_TRUE(budget::apply(each, attempt.model));
  };
  const Needs& needs = *chain.needs;
  if (needs.goal) make({NewGoal{chain.chain, *needs.goal}});
  if (needs.cores) {
    auto& numbers = change().options.cores.numbers;
    while (numbers.size() < *needs.cores) numbers.push_back(static_cast<int>(numbers.size()));
  }
  if (needs.execution_time) make({*needs.execution_time});
  if (needs.suspension) make({*needs.suspension});
  if (needs.period) make({*needs.period});
  if (needs.all_execution_times) {
    make(shorter_callbacks(model, std::span(&chain.chain, 1), *needs.all_execution_times));
  }
  return result;
}

TEST(Search, WhatAChainNeedsIsEnough) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const model::Model model = random_system(seed, 5);
    Options options;
    options.cores.numbers = {0};
    options.cores.capacity = seed % 2 == 0 ? 0.5 : 0.9;
    const ReservationPlan plan = plan_of(model, options);
    const std::size_t count = guaranteed(plan);
    for (std::size_t i = 0; i < plan.chains.size(); ++i) {
      EXPECT_EQ(plan.chains[i].needs.has_value(), i == count) << seed;
    }
    if (count == plan.chains.size()) continue;
    const auto& goal = model.chains[plan.chains[count].chain].goal;
    EXPECT_GT(plan.chains[count].needs->goal.value_or(Duration::max()), goal) << seed;
    for (const Attempt& attempt : attempts(model, options, plan.chains[count])) {
      EXPECT_GT(guaranteed(plan_of(attempt.model, attempt.options)), count) << seed;
      ++tried;
    }
  }
  EXPECT_GT(tried, 60U);
}

TEST(Search, NoBudgetCanBeLoweredByItsGranularity) {
  int lowered = 0;
  int could_be_lower = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const model::Model model = random_system(seed, 30);
    const ReservationPlan plan = plan_of(model);
    const model::Model planned = with_reservations(model, plan);
    ASSERT_TRUE(model::validate(planned, "planned").has_value()) << seed;
    EXPECT_TRUE(all_met(planned, plan)) << seed;
    for (const Reservation& r : plan.reservations) {
      const Duration unit = granularity(r.period);
      if (r.budget <= unit) continue;
      model::Model less = planned;
      std::get<model::ReservationSupply>(less.executors[r.executor.value()].supply).budget -= unit;
      could_be_lower += all_met(less, plan) ? 1 : 0;
      ++lowered;
    }
  }
  EXPECT_GT(lowered, 30);
  EXPECT_EQ(could_be_lower, 0);
}

TEST(Search, AMarginTakesMoreAndHoldsWithLongerExecutionTimes) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const model::Model model = random_system(seed, 60);
    double former = 0;
    for (const int margin : {0, 10, 20}) {
      Options options;
      options.margin = margin;
      options.cores.numbers = {0, 1, 2, 3, 4, 5, 6, 7};
      options.find_needs = false;
      const ReservationPlan plan = plan_of(model, options);
      model::Model longer = with_reservations(model, plan);
      for (model::Callback& callback : longer.callbacks) {
        for (Duration& time : callback.execution_time) time = (time * (100 + margin)) / 100;
      }
      EXPECT_TRUE(all_met(longer, plan)) << seed;
      if (!plan.complete()) break;
      // Budgets are a local minimum, so that the sum may be a little above the least.
      EXPECT_GE(bandwidth(model, plan), 0.98 * former) << seed << " margin " << margin;
      former = bandwidth(model, plan);
    }
  }
}

TEST(Search, AMarginNeverMakesMoreChainsPossible) {
  for (std::uint64_t seed = 0; seed < 15; ++seed) {
    const model::Model model = random_system(seed, 5);
    std::size_t former = model.chains.size();
    for (const int margin : {0, 10, 30}) {
      Options options;
      options.margin = margin;
      options.find_needs = false;
      const auto guaranteed = static_cast<std::size_t>(
          std::ranges::count(plan_of(model, options).chains, State::guaranteed, &ChainPlan::state));
      EXPECT_LE(guaranteed, former) << seed;
      former = guaranteed;
    }
  }
}

// ros-llama S-7, facts 26 and 27: if a chain is guaranteed, no more important one is degraded;
// executors that serve only degraded chains have no reservation.
TEST(Search, Fact26And27DegradationGoesByRankAndFreesExecutors) {
  int degraded = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    model::Model model = random_system(seed, 5);
    if (model.chains.size() > 1 && seed % 2 == 0) {
      model.chains.back().goal = Duration{1};  // cannot be met
      model.chains.back().rank = 1;
      model.chains.front().rank = 2;
    }
    Options options;
    options.cores.numbers = {0};
    options.find_needs = false;
    const ReservationPlan plan = plan_of(model, options);
    bool before = true;
    std::vector<char> needed(model.executors.size(), 0);
    for (const ChainPlan& chain : plan.chains) {
      const bool guaranteed = chain.state == State::guaranteed;
      EXPECT_TRUE(before || !guaranteed) << seed;
      before = guaranteed;
      degraded += guaranteed ? 0 : 1;
      if (!guaranteed) continue;
      for (const auto callback : model.chains[chain.chain].callbacks) {
        needed[model[callback].executor.value()] = 1;
      }
    }
    for (bool grown = true; grown;) {
      grown = false;
      for (const model::Edge& edge : model.edges) {
        char& from = needed[model[edge.from].executor.value()];
        if (from != 0 || needed[model[edge.to].executor.value()] == 0) continue;
        from = 1;
        grown = true;
      }
    }
    for (std::size_t e = 0; e < needed.size(); ++e) {
      const bool reserved =
          std::ranges::count(plan.reservations, ExecutorIndex{e}, &Reservation::executor) != 0;
      EXPECT_EQ(reserved, needed[e] != 0) << seed << " " << model.executors[e].id;
    }
  }
  EXPECT_GT(degraded, 10);
}

// Each of these messages takes half of a period, and few have to be handled for the others to be
// lost: their bound alone would be kept by a tenth of the processor.
TEST(Search, GivesWhatLosesNoMessages) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto subscription = builder.subscription(e, ms(5), model::every(ms(10)));
  builder.model().callbacks[subscription.value()].queue_depth = 1;
  builder.chain({subscription}, ms(100));
  const ReservationPlan plan = plan_of(builder.model());
  ASSERT_TRUE(plan.complete());
  EXPECT_GE(bandwidth(builder.model(), plan), 0.5);
}

/// A camera every 25 ms, whose newest image a detector takes that runs for longer, and a driver
/// that keeps up with what the detector sends.
ModelBuilder overloaded(Duration goal, Duration detection = ms(35)) {
  ModelBuilder builder;
  const auto camera = builder.timer(builder.executor(), ms(1), model::every(ms(25)));
  const auto detector = builder.subscription(builder.executor(), detection);
  const auto driver = builder.subscription(builder.executor(), ms(1));
  for (const auto callback : {detector, driver}) {
    builder.model().callbacks[callback.value()].queue_depth = 1;
  }
  builder.chain({camera, detector, driver}, goal);
  return builder;
}

// It loses messages with all that a core grants. So it gets all of that, with which it loses the
// fewest, and the goal is guaranteed for the others. What keeps up loses none.
TEST(Search, GuaranteesWhatIsNotLostWhereMessagesAreLostWhateverIsGiven) {
  ModelBuilder builder = overloaded(ms(150));
  const model::Model& model = builder.model();
  EXPECT_EQ(lossless(model).callbacks[1].queue_depth, 1);
  EXPECT_EQ(lossless(model).callbacks[2].queue_depth, std::nullopt);
  EXPECT_EQ(lossless(lossless(model)), lossless(model));
  const ReservationPlan plan = plan_of(model);
  ASSERT_TRUE(plan.complete());
  EXPECT_THAT(plan.losing, testing::ElementsAre(model::CallbackIndex{1}));
  ASSERT_EQ(plan.reservations.size(), 3U);
  EXPECT_EQ(plan.reservations[1].budget, Duration{ms(5) * 9 / 10});
  EXPECT_LT(plan.reservations[2].budget, ms(1));
  const auto bounds = analysis::analyze(lossless(with_reservations(model, plan)));
  EXPECT_LE(*bounds.chains[0].bound, ms(150));
  EXPECT_EQ(plan.chains[0].bound, bounds.chains[0].bound);
  EXPECT_EQ(plan_of(overloaded(ms(50)).model()).chains[0].state, State::not_possible);
  // 96 % of a core are more than is granted, 88 % are not.
  EXPECT_EQ(plan_of(overloaded(ms(150), ms(24)).model()).losing.size(), 1U);
  EXPECT_TRUE(plan_of(overloaded(ms(150), ms(22)).model()).complete());
  EXPECT_TRUE(plan_of(overloaded(ms(150), ms(22)).model()).losing.empty());
}

// A callback of 1 ms that sleeps once for 30 ms is late, whatever it is given.
TEST(Search, SaysWhichCallbackWouldHaveToSleepLess) {
  ModelBuilder builder;
  const auto timer = builder.timer(builder.executor(), ms(1), model::every(ms(50)));
  builder.chain({timer}, ms(20));
  builder.model().callbacks[0].suspension = model::Suspension{
      .curve = std::vector(8, ms(30)), .times_in_a_row = std::vector<std::int64_t>(8, 1)};
  const ReservationPlan plan = plan_of(builder.model());
  ASSERT_TRUE(plan.chains.front().needs.has_value());
  const auto& suspension = plan.chains.front().needs->suspension;
  ASSERT_TRUE(suspension.has_value());
  EXPECT_THAT(suspension->callbacks, testing::ElementsAre(model::CallbackIndex{0}));
  EXPECT_GT(suspension->percent, 30);
  EXPECT_LT(suspension->percent, 67);
  model::Model changed = builder.model();
  ASSERT_TRUE(budget::apply(Change{*suspension}, changed));
  EXPECT_TRUE(plan_of(changed).complete());
}

// What is guaranteed when the effort ends is guaranteed, nothing is called impossible that is not,
// and a search that was complete is as without a limit.
TEST(Search, EndsWithWhatItHasWhenItsEffortIsUsedUp) {
  int gave_up = 0;
  int guaranteed = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const model::Model model = random_system(seed, seed % 2 == 0 ? 20 : -30);
    const ReservationPlan full = plan_of(model);
    EXPECT_FALSE(full.gave_up);
    for (const int part : {1, 10, 60, 250}) {
      Options options;
      options.effort = std::max<std::int64_t>(full.steps * part / 100, 1);
      const ReservationPlan plan = plan_of(model, options);
      const auto bounds = analysis::analyze(with_reservations(model, plan));
      for (const ChainPlan& chain : plan.chains) {
        if (chain.state != State::guaranteed) continue;
        EXPECT_TRUE(bounds.chains[chain.chain].met().value()) << seed;
      }
      // An analysis may begin at the end of the search, another at that of the needs, one is left
      // for the result; and each takes some steps whatever its effort.
      EXPECT_LE(plan.steps, 3 * options.effort + 3 * bounds.steps) << seed;
      for (std::size_t i = 0; i < plan.chains.size(); ++i) {
        if (plan.chains[i].state != State::not_possible) continue;
        EXPECT_NE(full.chains[i].state, State::guaranteed) << seed;
      }
      gave_up += plan.gave_up ? 1 : 0;
      if (plan.gave_up) {
        guaranteed += plan.chains.front().state == State::guaranteed ? 1 : 0;
      } else if (options.effort > full.steps) {
        EXPECT_EQ(to_json(with_reservations(model, plan)), to_json(with_reservations(model, full)));
      }
    }
  }
  EXPECT_GT(gave_up, 30);
  EXPECT_GT(guaranteed, 5);
}

}  // namespace
}  // namespace takt::budget
