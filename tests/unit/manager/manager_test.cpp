#include "takt/manager/manager.hpp"

#include <gmock/gmock.h>

#include <iterator>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/manager/log.hpp"

/// Decisions of the latency manager, without a kernel.
namespace takt::manager {
namespace {

using model::ModelBuilder;
using std::chrono::milliseconds;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr milliseconds ms(std::int64_t count) { return milliseconds{count}; }

/// Two chains on executors of their own. The second is the less important one.
model::Model two_chains(Duration first_cost, Duration second_cost) {
  ModelBuilder builder;
  for (const Duration cost : {first_cost, second_cost}) {
    const auto executor = builder.executor();
    builder.chain({builder.timer(executor, cost, model::every(ms(50)))}, ms(50));
  }
  builder.model().chains[0].rank = 1;
  builder.model().chains[1].rank = 2;
  return builder.model();
}

Situation situation(model::Model model) {
  return {.time = Instant{ms(1)},
          .model = std::move(model),
          .missing_goals = {},
          .doubts = {},
          .cores = {.numbers = {0}, .capacity = 0.9}};
}

std::vector<ChainState> states(const Decision& decision) {
  std::vector<ChainState> result;
  for (const ChainDecision& chain : decision.chains) result.push_back(chain.state);
  return result;
}

constexpr auto guaranteed = ChainState::guaranteed;
constexpr auto degraded = ChainState::degraded;
constexpr auto unmanaged = ChainState::unmanaged;

TEST(Manager, ReservesForEveryChainThatFits) {
  Manager manager;
  const Decision decision = manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_THAT(states(decision), ElementsAre(guaranteed, guaranteed));
  EXPECT_THAT(decision.reservations, SizeIs(2));
  for (const ChainDecision& chain : decision.chains) EXPECT_LE(*chain.bound, *chain.goal);
  EXPECT_THAT(decision.changes, SizeIs(4));
}

/// A search takes many analyses; whether the last plan still keeps all goals takes one.
TEST(Manager, SearchesAnewOnlyNowAndThenWhilePlansHold) {
  Manager manager;
  const Decision first = manager.decide(situation(two_chains(ms(10), ms(10))));
  const std::size_t search = manager.analyses();
  ASSERT_GT(search, 5U);
  for (int again = 0; again < 9; ++again) {
    const Decision same = manager.decide(situation(two_chains(ms(10), ms(10))));
    EXPECT_EQ(same.reservations, first.reservations);
    EXPECT_EQ(manager.analyses(), 1U);
  }
  manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_GT(manager.analyses(), 5U);
  // What was reserved does not keep these goals.
  const Decision longer = manager.decide(situation(two_chains(ms(15), ms(15))));
  EXPECT_GT(manager.analyses(), 5U);
  EXPECT_THAT(states(longer), ElementsAre(guaranteed, guaranteed));
}

// ros-llama S-7, fact 26, while programs run: the surge of the less important chain degrades it,
// and the other one keeps its reservation unchanged.
TEST(Manager, Fact26ASurgeDegradesTheLessImportantChainAndNoOther) {
  Manager manager;
  const Decision calm = manager.decide(situation(two_chains(ms(10), ms(10))));
  const Decision surge = manager.decide(situation(two_chains(ms(10), ms(35))));
  EXPECT_THAT(states(surge), ElementsAre(guaranteed, degraded));
  ASSERT_THAT(surge.reservations, SizeIs(1));
  EXPECT_EQ(surge.reservations[0], calm.reservations[0]);
  EXPECT_THAT(surge.chains[1].reason, HasSubstr("2 cores"));
}

/// Its bound is above its goal with what it had, and nobody else needs that.
TEST(Manager, ADegradedChainKeepsItsReservationsAsLongAsNobodyNeedsThem) {
  Manager manager;
  const Decision calm = manager.decide(situation(two_chains(ms(10), ms(10))));
  Situation longer = situation(two_chains(ms(10), ms(10)));
  for (Duration& time : longer.model.callbacks[1].execution_time) time = ms(12);
  longer.model.chains[1].goal = ms(12);
  const Decision unlucky = manager.decide(longer);
  EXPECT_THAT(states(unlucky), ElementsAre(guaranteed, degraded));
  EXPECT_EQ(unlucky.reservations, calm.reservations);
  EXPECT_THAT(unlucky.chains[1].reason, HasSubstr("it has reservations all the same"));
  EXPECT_EQ(unlucky.chains[1].bound, std::nullopt);
  // Until the more important one does, or another program has some.
  longer.model.callbacks[0].execution_time = {ms(35)};
  EXPECT_THAT(manager.decide(longer).reservations, SizeIs(1));
  Manager crowded;
  crowded.decide(situation(two_chains(ms(10), ms(10))));
  longer.model.callbacks[0].execution_time = {ms(10)};
  longer.crowded = true;
  EXPECT_THAT(crowded.decide(longer).reservations, SizeIs(1));
}

/// One whose goal nothing keeps: what is reserved bounds it nevertheless.
TEST(Manager, AChainThatNeverFittedGetsWhatIsLeft) {
  Situation strict = situation(two_chains(ms(10), ms(10)));
  strict.model.chains[0].goal.reset();
  strict.model.chains[1].goal = ms(9);
  Manager manager;
  const Decision decision = manager.decide(strict);
  EXPECT_THAT(states(decision), ElementsAre(degraded));
  ASSERT_THAT(decision.reservations, SizeIs(1));
  EXPECT_EQ(decision.reservations[0].executor, strict.model.executors[1].id);
  EXPECT_EQ(decision.chains[0].bound, std::nullopt);
  EXPECT_EQ(manager.decide(strict).reservations, decision.reservations);
}

/// Either of the advised changes is enough for both chains.
TEST(Manager, SaysWhatWouldMakeADegradedChainFit) {
  Manager manager;
  manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_FALSE(manager.advice().has_value());
  const auto surge = situation(two_chains(ms(10), ms(35)));
  const Decision decision = manager.decide(surge);
  ASSERT_TRUE(manager.advice().has_value());
  EXPECT_EQ(manager.advice()->chain, surge.model.chains[1].id);
  EXPECT_EQ(manager.advice()->reason, decision.chains[1].reason);
  const auto& needs = manager.advice()->needs;
  ASSERT_TRUE(needs["cores"].is_number() && needs["all_execution_times_percent"].is_number());
  const auto both = ElementsAre(guaranteed, guaranteed);

  auto more = surge;
  while (std::ssize(more.cores.numbers) < needs["cores"]) {
    more.cores.numbers.push_back(static_cast<int>(more.cores.numbers.size()));
  }
  EXPECT_THAT(states(Manager().decide(more)), both);
  EXPECT_TRUE(needs["goal"].is_null()) << "one core has too little time for both";
  auto shorter = surge;
  for (Duration& time : shorter.model.callbacks[1].execution_time) {
    time = time * needs["all_execution_times_percent"].get<int>() / 100;
  }
  EXPECT_THAT(states(Manager().decide(shorter)), both);

  manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_FALSE(manager.advice().has_value());
}

/// Looking for advice takes many searches; it is not looked for with every decision.
TEST(Manager, KeepsItsAdviceForAWhile) {
  Manager manager;
  const auto surge = situation(two_chains(ms(10), ms(35)));
  manager.decide(surge);
  const auto first = manager.advice()->needs;
  auto changed = surge;
  changed.model = two_chains(ms(10), ms(36));
  for (int again = 0; again < 9; ++again) {
    manager.decide(changed);
    EXPECT_EQ(manager.advice()->needs, first);
  }
  manager.decide(changed);
  EXPECT_NE(manager.advice()->needs, first);
}

// The slots of a shaping plan count as load: what fits alone does not fit beside them.
TEST(Manager, AdmitsChainsBesideTheSlotsOfShapedOnes) {
  Situation beside = situation(two_chains(ms(10), ms(10)));
  beside.cores.taken = {{.density = 0.2}};
  Manager manager;
  EXPECT_THAT(states(manager.decide(beside)), ElementsAre(guaranteed, guaranteed));
  beside.cores.taken = {{.density = 0.6}};
  const Decision crowded = Manager().decide(beside);
  EXPECT_THAT(states(crowded), ElementsAre(guaranteed, degraded));
  const Decision later = manager.decide(beside);
  EXPECT_THAT(states(later), ElementsAre(guaranteed, degraded));
  beside.cores.taken = {{.density = 0.9}};
  EXPECT_THAT(states(Manager().decide(beside)), ElementsAre(degraded, degraded));
}

TEST(Manager, LeavesTheExecutorsOfShapedChainsAlone) {
  Situation beside = situation(two_chains(ms(10), ms(10)));
  beside.cores.taken = {{.density = 0.2}};
  beside.doubts = {{beside.model.executors[0].id, "its chain is shaped"}};
  const Decision decision = Manager().decide(beside);
  ASSERT_THAT(decision.reservations, SizeIs(1));
  EXPECT_EQ(decision.reservations[0].executor, beside.model.executors[1].id);
  const std::string log =
      header_line(Manager().options()) + entry_line(beside, Manager().decide(beside));
  const auto again = replay(log, "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
}

TEST(Manager, TheMoreImportantChainTakesWhatItNeeds) {
  Manager manager;
  manager.decide(situation(two_chains(ms(10), ms(10))));
  const Decision surge = manager.decide(situation(two_chains(ms(35), ms(10))));
  EXPECT_THAT(states(surge), ElementsAre(guaranteed, degraded));
  const Decision beyond = manager.decide(situation(two_chains(ms(60), ms(10))));
  EXPECT_THAT(states(beyond), ElementsAre(degraded, degraded));
  EXPECT_THAT(beyond.reservations, IsEmpty());
}

TEST(Manager, RestoresAChainOnlyWhenThereHasBeenRoomForAWhile) {
  Manager manager({.calm = 3});
  const auto quiet = situation(two_chains(ms(10), ms(10)));
  const auto surge = situation(two_chains(ms(10), ms(45)));
  manager.decide(surge);
  EXPECT_THAT(states(manager.decide(quiet)), ElementsAre(guaranteed, degraded));
  EXPECT_THAT(states(manager.decide(quiet)), ElementsAre(guaranteed, degraded));
  manager.decide(surge);  // begins anew
  const Decision waiting = manager.decide(quiet);
  EXPECT_THAT(waiting.chains[1].reason, HasSubstr("room for it for a while"));
  EXPECT_THAT(states(manager.decide(quiet)), ElementsAre(guaranteed, degraded));
  const Decision restored = manager.decide(quiet);
  EXPECT_THAT(states(restored), ElementsAre(guaranteed, guaranteed));
  EXPECT_THAT(restored.changes, testing::Contains(HasSubstr("chain1: guaranteed")));
}

TEST(Manager, AnOscillatingLoadDoesNotMakeItOscillate) {
  Manager manager({.calm = 3});
  for (int round = 0; round < 20; ++round) {
    const Duration cost = round % 2 == 0 ? ms(45) : ms(10);
    const Decision decision = manager.decide(situation(two_chains(ms(10), cost)));
    EXPECT_THAT(states(decision), ElementsAre(guaranteed, degraded)) << round;
    EXPECT_THAT(decision.reservations, SizeIs(1)) << round;
  }
}

/// A surge that comes back a little after each return.
TEST(Manager, WaitsLongerWhereALoadComesBackSoon) {
  Manager manager({.calm = 2});
  const auto quiet = situation(two_chains(ms(10), ms(10)));
  const auto surge = situation(two_chains(ms(10), ms(45)));
  const auto quiet_decisions_until_return = [&] {
    int count = 1;
    while (states(manager.decide(quiet))[1] != guaranteed) ++count;
    return count;
  };
  const auto pass = [&](int decisions) {
    for (int decision = 0; decision < decisions; ++decision) manager.decide(quiet);
  };
  manager.decide(surge);
  for (const int decisions : {2, 4, 8, 16, 32, 64, 64}) {
    EXPECT_EQ(quiet_decisions_until_return(), decisions);
    manager.decide(surge);
  }
  // It stays away for longer than its return took.
  quiet_decisions_until_return();
  pass(4 * 64);
  manager.decide(surge);
  EXPECT_EQ(quiet_decisions_until_return(), 2);
}

TEST(Manager, KeepsBudgetsThatAreEnoughAndNotTooLarge) {
  Manager manager({.spare = 20, .left = 100});
  const Decision first = manager.decide(situation(two_chains(ms(10), ms(10))));
  const Decision same = manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_EQ(same.reservations, first.reservations);
  EXPECT_THAT(same.changes, IsEmpty());
  const Decision less =
      manager.decide(situation(two_chains(ms(10) - std::chrono::microseconds{200}, ms(10))));
  EXPECT_EQ(less.reservations, first.reservations);
  const Decision more = manager.decide(situation(two_chains(ms(14), ms(10))));
  EXPECT_GT(more.reservations[0].budget, first.reservations[0].budget);
  const Decision much_less = manager.decide(situation(two_chains(ms(4), ms(4))));
  EXPECT_LT(much_less.reservations[0].budget, first.reservations[0].budget);
}

/// One executor's callback becomes longer and the other's shorter. A message that is on its way
/// from the one to the other would have the smaller budget on both.
TEST(Manager, MakesAReservationSmallerADecisionAfterItWantsTo) {
  Manager manager({.spare = 0, .left = 100});
  Situation now = situation(two_chains(ms(10), ms(5)));
  const auto decide = [&](Duration first, Duration second) {
    now.time += std::chrono::seconds{1};
    now.model = two_chains(first, second);
    return manager.decide(now);
  };
  const Decision before = decide(ms(10), ms(5));
  const Decision change = decide(ms(5), ms(10));
  const Decision again = manager.decide(now);  // as after a refusal
  const Decision after = decide(ms(5), ms(10));
  const auto budget = [](const Decision& decision, std::size_t executor) {
    return decision.reservations.at(executor).budget;
  };
  ASSERT_THAT(states(change), ElementsAre(guaranteed, guaranteed));
  EXPECT_GT(budget(change, 1), budget(before, 1));
  EXPECT_EQ(budget(change, 0), budget(before, 0));
  EXPECT_EQ(again.reservations, change.reservations);
  EXPECT_LT(budget(after, 0), budget(before, 0));
  EXPECT_EQ(budget(after, 1), budget(change, 1));
  // What is promised holds after that as well.
  EXPECT_EQ(change.grounds, after.reservations);
  EXPECT_EQ(change.chains[0].bound, after.chains[0].bound);
}

TEST(Manager, ExchangesReservationsAtOnceWhereBothDoNotFit) {
  Manager manager({.spare = 0, .left = 100});
  Situation now = situation(two_chains(ms(25), ms(5)));
  const Decision before = manager.decide(now);
  now.time += std::chrono::seconds{1};
  now.model = two_chains(ms(5), ms(25));
  const Decision after = manager.decide(now);
  ASSERT_THAT(states(after), ElementsAre(guaranteed, guaranteed));
  EXPECT_LT(after.reservations[0].budget, before.reservations[0].budget);
  EXPECT_EQ(after.reservations, after.grounds);
}

/// Together they would need cores of their own, which the larger ones do not have.
TEST(Manager, ExchangesReservationsAtOnceWhereBothWouldHaveToBePinned) {
  Manager manager({.spare = 0, .left = 100});
  Situation now = situation(two_chains(ms(28), ms(18)));
  now.cores.numbers = {0, 1};
  const Decision before = manager.decide(now);
  now.time += std::chrono::seconds{1};
  now.model = two_chains(ms(18), ms(28));
  const Decision after = manager.decide(now);
  ASSERT_THAT(states(after), ElementsAre(guaranteed, guaranteed));
  for (const ReservationDecision& each : after.reservations) ASSERT_FALSE(each.core);
  EXPECT_LT(after.reservations[0].budget, before.reservations[0].budget);
  EXPECT_EQ(after.reservations, after.grounds);
}

TEST(Manager, GivesReservationsWhatIsLeftOver) {
  Manager careful({.left = 100});
  Manager generous({.left = 25});
  const Situation now = situation(two_chains(ms(5), ms(5)));
  const Decision least = careful.decide(now);
  const Decision most = generous.decide(now);
  ASSERT_THAT(most.reservations, SizeIs(2));
  double sum = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(most.reservations[i].budget, least.reservations[i].budget);
    EXPECT_LT(*most.chains[i].bound, *least.chains[i].bound);
    sum += static_cast<double>(most.reservations[i].budget.count()) /
           static_cast<double>(most.reservations[i].period.count());
  }
  // The kernel keeps a tenth of the only core for itself.
  EXPECT_LE(sum, 0.65 + 1e-9);
  EXPECT_GT(sum, 0.6);
}

TEST(Manager, TakesNoMoreThanItNeedsWhereOthersHaveReservations) {
  Manager manager({.left = 25});
  Situation now = situation(two_chains(ms(5), ms(5)));
  const Decision alone = manager.decide(now);
  now.crowded = true;
  const Decision crowded = manager.decide(now);
  EXPECT_LT(crowded.reservations[0].budget, alone.reservations[0].budget);
  EXPECT_EQ(crowded.reservations, Manager({.left = 100}).decide(now).reservations);
}

// Budgets that are a little larger than they need to be stay as they are, but not once the kernel
// has refused them.
TEST(Manager, DoesNotKeepWhatTheKernelHasRefused) {
  Manager manager({.left = 100});
  manager.decide(situation(two_chains(ms(10), ms(10))));
  Situation now = situation(two_chains(ms(10) - std::chrono::microseconds{200}, ms(10)));
  now.crowded = true;
  const Decision least = Manager({.left = 100}).decide(now);
  EXPECT_EQ(manager.decide(now).reservations, least.reservations);
  EXPECT_EQ(manager.decide(now).reservations, least.reservations);
}

TEST(Manager, ChoosesAPeriodAndKeepsIt) {
  Manager manager({.period = std::nullopt});
  const Decision first = manager.decide(situation(two_chains(ms(10), ms(10))));
  EXPECT_THAT(states(first), ElementsAre(guaranteed, guaranteed));
  EXPECT_EQ(first.reservations[0].period, first.reservations[1].period);
  const Decision second = manager.decide(situation(two_chains(ms(12), ms(11))));
  EXPECT_EQ(second.reservations[0].period, first.reservations[0].period);
}

TEST(Manager, KeepsThreadsOnCoresWhereReservationsFitOnlySo) {
  Situation now = situation(two_chains(ms(30), ms(30)));
  now.cores = {.numbers = {1, 2}, .capacity = 0.9};
  Manager manager({.margin = 0});
  const Decision pinned = manager.decide(now);
  EXPECT_THAT(states(pinned), ElementsAre(guaranteed, guaranteed));
  ASSERT_THAT(pinned.reservations, SizeIs(2));
  EXPECT_NE(pinned.reservations[0].core, pinned.reservations[1].core);
  for (const ReservationDecision& r : pinned.reservations) {
    EXPECT_THAT(r.core, testing::Optional(testing::AnyOf(1, 2)));
  }
  EXPECT_EQ(manager.decide(now).reservations, pinned.reservations);
}

TEST(Manager, KeepsAMargin) {
  Manager manager({.margin = 25});
  const Decision decision = manager.decide(situation(two_chains(ms(10), ms(10))));
  model::Model longer = two_chains(std::chrono::microseconds{12'500}, ms(10));
  longer.executors[0].supply =
      model::ReservationSupply{decision.reservations[0].budget, decision.reservations[0].period,
                               decision.reservations[0].deadline};
  EXPECT_EQ(analysis::analyze(longer).chains[0].met(), true);
}

TEST(Manager, ReservesNothingOnWhatIsInDoubt) {
  Manager manager;
  Situation doubtful = situation(two_chains(ms(10), ms(10)));
  manager.decide(doubtful);
  doubtful.doubts = {{"e1", "a thread of it has ended"}};
  const Decision one = manager.decide(doubtful);
  EXPECT_THAT(states(one), ElementsAre(guaranteed, unmanaged));
  EXPECT_EQ(one.chains[1].reason, "e1: a thread of it has ended");
  EXPECT_THAT(one.reservations, SizeIs(1));

  doubtful.doubts = {{"", "12 events were lost"}};
  const Decision all = manager.decide(doubtful);
  EXPECT_THAT(states(all), ElementsAre(unmanaged, unmanaged));
  EXPECT_THAT(all.reservations, IsEmpty());
  EXPECT_THAT(all.changes, testing::Contains("executor e0: best effort"));

  doubtful.doubts = {};
  EXPECT_THAT(states(manager.decide(doubtful)), ElementsAre(guaranteed, guaranteed));
}

// Until messages were seen under the reservations their delays are not known.
TEST(Manager, PreparesAChainBeforeItGuaranteesIt) {
  Manager manager;
  Situation fresh = situation(two_chains(ms(10), ms(10)));
  fresh.unproved = {"e1"};
  const Decision first = manager.decide(fresh);
  EXPECT_THAT(states(first), ElementsAre(guaranteed, ChainState::prepared));
  EXPECT_EQ(first.chains[1].bound, std::nullopt);
  EXPECT_THAT(first.reservations, SizeIs(2));
  const auto again = replay(header_line(Manager().options()) + entry_line(fresh, first), "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());

  fresh.unproved = {};
  const Decision proved = manager.decide(fresh);
  EXPECT_THAT(states(proved), ElementsAre(guaranteed, guaranteed));
  EXPECT_EQ(proved.reservations, first.reservations);
}

TEST(Manager, TellsOfGoalsThatMeanNothing) {
  Manager manager;
  Situation given = situation(two_chains(ms(10), ms(10)));
  given.missing_goals = {{.name = "pilot", .reason = "no callback is called /scan"}};
  const Decision decision = manager.decide(given);
  EXPECT_EQ(decision.chains.back().id, "pilot");
  EXPECT_EQ(decision.chains.back().state, unmanaged);
  const auto again = replay(header_line(manager.options()) + entry_line(given, decision), "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
}

/// What the estimators of the two chains are told while the less important one is degraded.
std::vector<std::optional<EstimatorDecision>> estimators(const Decision& decision) {
  std::vector<std::optional<EstimatorDecision>> result;
  for (const ChainDecision& chain : decision.chains) result.push_back(chain.estimator);
  return result;
}

TEST(Manager, AsksEstimatorsForTheirCheapModeWhenThereIsTooLittleTime) {
  const auto beside = [](Duration second_cost) {
    Situation found = situation(two_chains(ms(10), second_cost));
    for (const model::Chain& chain : found.model.chains) {
      found.estimators.push_back({chain.id, "/of_" + chain.id, CheapMode::asked, ""});
    }
    return found;
  };
  const Situation quiet = beside(ms(10));
  Situation surge = beside(ms(45));
  const std::string first = surge.model.chains[0].id;
  Manager manager;
  EXPECT_THAT(estimators(manager.decide(quiet)), Each(std::nullopt));
  Decision decision = manager.decide(surge);
  ASSERT_THAT(states(decision), ElementsAre(guaranteed, degraded));
  EXPECT_EQ(decision.chains[0].estimator,
            (EstimatorDecision{"/of_" + first, CheapMode::asked, ""}));
  EXPECT_THAT(decision.changes,
              Contains("chain " + first + ": /of_" + first + " is asked for its cheap mode"));
  // Without a guarantee nothing bounds the way back, whatever the estimator would say.
  surge.estimators[1].answer = CheapMode::accepted;
  decision = manager.decide(surge);
  EXPECT_EQ(decision.chains[1].estimator->mode, CheapMode::refused);
  EXPECT_THAT(decision.chains[1].estimator->reason, HasSubstr("degraded"));
  // An answer is reported once.
  surge.estimators[0].answer = CheapMode::refused;
  surge.estimators[0].reason = "the input is outside the decision bound";
  decision = manager.decide(surge);
  EXPECT_EQ(decision.chains[0].estimator->reason, surge.estimators[0].reason);
  EXPECT_THAT(decision.changes, ElementsAre(HasSubstr("does not use its cheap mode: the input")));
  EXPECT_THAT(manager.decide(surge).changes, IsEmpty());
  surge.estimators[0].answer = CheapMode::accepted;
  EXPECT_THAT(manager.decide(surge).changes, ElementsAre(HasSubstr("uses its cheap mode")));
  const std::string log =
      header_line(Manager().options()) + entry_line(surge, Manager().decide(surge));
  const auto again = replay(log, "log");
  ASSERT_TRUE(again.has_value()) << again.error().message;
  EXPECT_THAT(again->differences, IsEmpty());
  EXPECT_EQ(again->decisions[0].chains[0].estimator->mode, CheapMode::accepted);
}

TEST(Manager, HasNothingToDoWithoutGoals) {
  Manager manager;
  model::Model model = two_chains(ms(10), ms(10));
  model.chains.clear();
  const Decision decision = manager.decide(situation(model));
  EXPECT_THAT(decision.chains, IsEmpty());
  EXPECT_THAT(decision.reservations, IsEmpty());
}

class Log : public testing::Test {
 protected:
  /// A log of a surge that comes and goes.
  Log() {
    Manager manager(options_);
    text_ = header_line(options_);
    for (const int cost : {10, 45, 10, 10, 10, 10}) {
      Situation given = situation(two_chains(ms(10), ms(cost)));
      if (cost == 45) given.doubts = {{"unknown", "nothing depends on it"}};
      text_ += entry_line(given, manager.decide(given));
    }
  }
  Options options_{.margin = 5, .calm = 2};
  std::string text_;
};

TEST_F(Log, DecidesTheSameAgain) {
  const auto replayed = replay(text_, "log");
  ASSERT_TRUE(replayed.has_value()) << replayed.error().message;
  EXPECT_THAT(replayed->decisions, SizeIs(6));
  EXPECT_THAT(replayed->differences, IsEmpty());
}

TEST_F(Log, FindsWhatWasDecidedOtherwise) {
  const auto place = text_.find("\"state\":\"degraded\"");
  text_.replace(place, 18, "\"state\":\"unmanaged\"");
  const auto replayed = replay(text_, "log");
  ASSERT_TRUE(replayed.has_value());
  EXPECT_THAT(replayed->differences, ElementsAre(HasSubstr("log: line 3")));
}

TEST_F(Log, PassesOverALineThatWasCutOff) {
  text_.resize(text_.size() - 10);
  const auto replayed = replay(text_, "log");
  ASSERT_TRUE(replayed.has_value());
  EXPECT_THAT(replayed->decisions, SizeIs(5));
}

TEST_F(Log, RefusesWhatIsNoLog) {
  EXPECT_THAT(replay("", "x").error().message, HasSubstr("empty"));
  EXPECT_THAT(replay("{}\n", "x").error().message, HasSubstr("not a takt/decisions log"));
  EXPECT_THAT(replay("nonsense\n", "x").error().message, HasSubstr("x: line 1"));
  EXPECT_THAT(replay(header_line(options_) + "{\"time\":1}\n", "x").error().message,
              HasSubstr("x: line 2"));
  Options wild = options_;
  wild.period = Duration{1};
  EXPECT_THAT(replay(header_line(wild), "x").error().message, HasSubstr("out of its range"));
}

TEST_F(Log, RefusesALineThatIsNestedTooDeep) {
  constexpr std::size_t depth = 1'000'000;
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(replay(header_line(options_) + "{\"model\":" + deep + "}\n", "x").error().message,
            "x: line 2: nested more than 64 deep; it is not a decisions log");
}

}  // namespace
}  // namespace takt::manager
