#include "takt/budget/advice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "milliseconds.hpp"
#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/admission.hpp"

namespace takt::budget {
namespace {

using model::ExecutorKind;
using model::ModelBuilder;

using By = Advice::By;

/// With the whole of each core for reservations, unless said otherwise.
Options on_cores(int count, double capacity = 1) {
  Options options;
  options.cores.capacity = capacity;
  options.cores.numbers.clear();
  for (int core = 0; core < count; ++core) options.cores.numbers.push_back(core);
  return options;
}

/// The changes that are advised for the first chain, on that many cores: "none" if there is no
/// advice. Makes them and checks what they promise.
std::string advised(const model::Model& model, int cores = 4) {
  const Advice advice = advise(model, on_cores(cores));
  if (advice.remedies.empty() || advice.changes.empty()) return "none";
  std::string text = fmt::format("{}", fmt::join(advice.changes, ", "));
  const auto changed = with_changes(text, model);
  EXPECT_TRUE(changed.has_value());
  const auto chain = analysis::analyze(*changed).chains[advice.remedies.front().chain];
  EXPECT_TRUE(chain.met().value());
  EXPECT_EQ(chain.bound, advice.remedies.front().bound);
  return text;
}

/// A quick callback and a slow one, each every 100 ms, on one executor.
class TwoCallbacks {
 public:
  TwoCallbacks(ExecutorKind kind, Duration goal, const model::Supply& supply = {}) {
    const auto e = builder_.executor(supply, kind);
    const auto quick = builder_.subscription(e, ms(3), model::every(ms(100)));
    builder_.subscription(e, ms(20), model::every(ms(90)));
    builder_.subscription(e, ms(20), model::every(ms(80)));
    builder_.chain({quick}, goal);
  }
  model::Model& model() { return builder_.model(); }

 private:
  ModelBuilder builder_;
};

TEST(Advice, IsNotWantedWhereTheGoalIsMet) {
  EXPECT_EQ(advised(TwoCallbacks(ExecutorKind::single_threaded, ms(100)).model()), "none");
}

TEST(Advice, IsAPriorityIfThatWillDo) {
  TwoCallbacks callbacks(ExecutorKind::fixed_priority, ms(25));
  for (std::size_t c = 0; c < 3; ++c) {
    callbacks.model().callbacks[c].priority = static_cast<std::int64_t>(c);
  }
  EXPECT_EQ(advised(callbacks.model()), "priority(c0)=3");
}

TEST(Advice, IsTheLeastBudgetThatSuffices) {
  const model::ReservationSupply supply{ms(5), ms(10), ms(10)};
  model::Model model = TwoCallbacks(ExecutorKind::single_threaded, ms(60), supply).model();
  const std::string text = advised(model);
  EXPECT_THAT(text, testing::StartsWith("budget(e0)="));
  const auto changed = with_changes(text, model);
  const auto& supply_of = changed->executors[0].supply;
  const auto budget = std::get<model::ReservationSupply>(supply_of).budget;
  std::get<model::ReservationSupply>(model.executors[0].supply).budget = budget - ms(1) / 100;
  EXPECT_GT(analysis::analyze(model).chains[0].bound, ms(60));
}

/// Two reservations of one processor: no budget may take what the other one has.
TEST(Advice, LeavesReservationsOfTheSameProcessorWhatTheyHave) {
  const model::ReservationSupply supply{ms(5), ms(10), ms(10)};
  TwoCallbacks callbacks(ExecutorKind::single_threaded, ms(60), supply);
  model::Model& model = callbacks.model();
  model.executors.push_back(model.executors[0]);
  model.executors[1].id = "other";
  model.executors[0].cpu = model.executors[1].cpu = 0;
  EXPECT_EQ(advised(model).find("budget"), std::string::npos);
}

TEST(Advice, IsAnotherKindOfExecutorElse) {
  // By deadlines the chain goes first, after one other callback.
  TwoCallbacks callbacks(ExecutorKind::single_threaded, ms(25));
  callbacks.model().callbacks[0].deadline = ms(10);
  EXPECT_EQ(advised(callbacks.model()), "executor(e0)=edf");
}

TEST(Advice, IsAnExecutorOfItsOwnAtLast) {
  EXPECT_EQ(advised(TwoCallbacks(ExecutorKind::single_threaded, ms(5)).model()), "split(c0)");
}

TEST(Advice, AsksForShorterCallbacksWhereNothingElseWillDo) {
  // The chain's own callback takes 3 ms.
  const model::Model model = TwoCallbacks(ExecutorKind::single_threaded, ms(2)).model();
  EXPECT_THAT(advised(model), testing::StartsWith("execution_time(e0)="));
  EXPECT_EQ(advise(model, on_cores(4)).remedies.front().by, By::wishes);
}

/// A core grants 9 ms of 10 ms, so a reservation may keep the callback of 3 ms waiting for 2 ms.
TEST(Advice, IsAnExecutorOfItsOwnThoughNoReservationsGuaranteeIt) {
  const model::Model model = TwoCallbacks(ExecutorKind::single_threaded, ms(4)).model();
  Options options = on_cores(4, 0.9);
  options.period = ms(10);
  const Advice advice = advise(model, options);
  EXPECT_THAT(advice.changes, testing::ElementsAre("split(c0)"));
  ASSERT_EQ(advice.remedies.size(), 1U);
  EXPECT_EQ(advice.remedies.front().by, By::changes);
  EXPECT_EQ(advice.remedies.front().bound, ms(3));
  EXPECT_FALSE(advice.remedies.front().reservable);
  // 2 ms later, they do.
  EXPECT_TRUE(advise(TwoCallbacks(ExecutorKind::single_threaded, ms(6)).model(), options)
                  .remedies.front()
                  .reservable);
}

TEST(Advice, AsksForFasterMessagesWhereTheyAreTheReason) {
  ModelBuilder builder;
  const auto sender = builder.timer(builder.executor(), ms(1), model::every(ms(100)));
  const auto receiver = builder.subscription(builder.executor(), ms(1));
  builder.edge(sender, receiver, ms(100));
  builder.chain({sender, receiver}, ms(50));
  // 1 ms and 1 ms leave 48 ms.
  EXPECT_EQ(advised(builder.model()), "delay=48ms");
}

/// Two reservations of one chain: each at its most leaves the other one too long.
model::Model two_reservations(int chains) {
  const model::ReservationSupply supply{ms(1), ms(10), ms(10)};
  ModelBuilder builder;
  for (int i = 0; i < chains; ++i) {
    const auto first = builder.timer(builder.executor(supply), ms(3), model::every(ms(100)));
    const auto second = builder.subscription(builder.executor(supply), ms(3));
    builder.chain({first, second}, ms(22));
  }
  return builder.model();
}

TEST(Advice, IsOneSetOfReservationsForAllChains) {
  const Advice advice = advise(two_reservations(2), on_cores(4));
  ASSERT_TRUE(advice.reservations);
  EXPECT_TRUE(advice.changes.empty());
  ASSERT_EQ(advice.remedies.size(), 2U);
  const model::Model planned = with_reservations(two_reservations(2), *advice.reservations);
  const analysis::Bounds bounds = analysis::analyze(planned);
  for (const Advice::Remedy& remedy : advice.remedies) {
    EXPECT_EQ(remedy.by, By::reservations);
    EXPECT_EQ(bounds.chains[remedy.chain].bound, remedy.bound);
    EXPECT_LE(*remedy.bound, ms(22));
  }
  const std::vector<std::size_t> chains{0, 1};
  EXPECT_TRUE(admit(planned, chains, on_cores(4).cores));
}

/// Each chain alone is easily helped by a larger budget, and one core has none for both.
TEST(Advice, PromisesNoMoreThanTheCoresHave) {
  const model::ReservationSupply supply{ms(2), ms(10), ms(10)};
  ModelBuilder builder;
  for (int i = 0; i < 2; ++i) {
    const auto c = builder.timer(builder.executor(supply), ms(3), model::every(ms(100)));
    builder.chain({c}, ms(11));  // 2 (10 ms - Q) + 3 ms for Q >= 3 ms: Q = 6 ms
  }
  const model::Model& model = builder.model();
  // Two budgets of 6 ms are those of takt budget.
  EXPECT_TRUE(advise(model, on_cores(2)).reservations);
  const Advice on_one = advise(model, on_cores(1));
  ASSERT_EQ(on_one.remedies.size(), 2U);
  EXPECT_EQ(on_one.remedies[0].by, By::changes);
  EXPECT_THAT(on_one.changes.front(), "budget(e0)=6ms");
  EXPECT_NE(on_one.remedies[1].by, By::changes);
  EXPECT_NE(on_one.remedies[1].by, By::reservations);
}

TEST(Advice, GivesNoProcessorThatIsNotThere) {
  const model::Model model = TwoCallbacks(ExecutorKind::single_threaded, ms(5)).model();
  EXPECT_EQ(advised(model, 2), "split(c0)");
  // On one core nobody has a processor to itself: reservations take its place.
  const Advice on_one = advise(model, on_cores(1));
  EXPECT_TRUE(on_one.reservations || on_one.changes != std::vector<std::string>{"split(c0)"});
}

/// A chain over two executors, one of which also runs something that takes longer than the goal.
model::Model robot_with_a_slow_callback(Duration delay) {
  ModelBuilder builder;
  const auto brain = builder.executor();
  const auto camera = builder.timer(builder.executor(), ms(3), model::every(ms(100)));
  builder.timer(brain, ms(400), model::every(ms(2000)));
  const auto detector = builder.subscription(brain, ms(22));
  builder.edge(camera, detector, delay);
  builder.chain({camera, detector}, ms(200));
  return builder.model();
}

/// Three executors do not have a core each, and no reservations help as long as two run on one.
void expect_kept(const model::Model& model, const Advice& advice) {
  ASSERT_TRUE(advice.reservations);
  ASSERT_EQ(advice.remedies.size(), 1U);
  const Advice::Remedy& remedy = advice.remedies.front();
  EXPECT_EQ(remedy.by, By::reservations);
  EXPECT_EQ(remedy.changes, advice.changes.size());
  const auto changed = with_changes(fmt::format("{}", fmt::join(advice.changes, ", ")), model);
  ASSERT_TRUE(changed.has_value());
  const model::Model planned = with_reservations(*changed, *advice.reservations);
  EXPECT_EQ(analysis::analyze(planned).chains[0].bound, remedy.bound);
  EXPECT_LE(*remedy.bound, ms(200));
  const std::vector<std::size_t> chains{0};
  EXPECT_TRUE(admit(planned, chains, on_cores(2).cores));
}

TEST(Advice, IsAnExecutorOfItsOwnTogetherWithReservations) {
  const model::Model model = robot_with_a_slow_callback(ms(2));
  const Advice advice = advise(model, on_cores(2));
  EXPECT_THAT(advice.changes, testing::ElementsAre("split(c1)"));
  EXPECT_EQ(advice.wishes, 0U);
  expect_kept(model, advice);
  // Where each executor can have a core, the change alone is less.
  EXPECT_EQ(advised(model, 3), "split(c1)");
}

/// A message seems to travel for as long as a receiver without a reservation waits.
TEST(Advice, SaysWhatItCountsOnWhereMessagesSeemSlow) {
  const model::Model model = robot_with_a_slow_callback(ms(460));
  const Advice advice = advise(model, on_cores(2));
  EXPECT_THAT(advice.changes, testing::ElementsAre("delay=20ms", "split(c1)"));
  EXPECT_EQ(advice.wishes, 1U);
  expect_kept(model, advice);
}

TEST(Advice, EndsWithItsEffort) {
  Options options = on_cores(4);
  options.effort = 1;
  const Advice advice = advise(two_reservations(2), options);
  EXPECT_FALSE(advice.reservations);
  EXPECT_LE(advice.analyses, 4U);
}

/// One callback every 100 ms on 1 ms of every 10 ms, with one overhead of 6 ms among those of 1 ms.
model::Model model_with_a_late_wake_up() {
  ModelBuilder builder;
  const auto e = builder.executor(model::ReservationSupply{ms(1), ms(10), ms(10)});
  builder.chain({builder.timer(e, ms(1), model::every(ms(100)))}, ms(30));
  model::Model model = builder.model();
  model.executors[0].overhead = {ms(6), ms(7)};
  model.provenance = R"({"outliers": [
      {"of": "overhead", "id": "e0", "value": 6000000, "at": 42, "without": [1000000, 2000000]},
      {"of": "overhead", "id": "unknown", "value": 6000000, "at": 42, "without": [1000000]},
      {"of": "execution_time", "id": "c0", "value": 5000000, "at": 42, "without": [1000000]},
      {"of": "execution_time", "id": "c0", "value": 1000000, "without": ["long"]},
      7]})";
  return model;
}

TEST(Outlier, IsTheObservationThatMakesABound) {
  const model::Model model = model_with_a_late_wake_up();
  const Advice advice = advise(model, on_cores(1));
  ASSERT_EQ(advice.outliers.size(), 1U);
  const Outlier& outlier = advice.outliers.front();
  EXPECT_EQ(outlier.observation.value, ms(6));
  EXPECT_EQ(outlier.observation.at, Duration{42});
  EXPECT_EQ(to_string(outlier.observation.without, model), "without(overhead of e0)");
  const auto changed = with_changes("without(overhead of e0)", model);
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->executors[0].overhead, (std::vector<Duration>{ms(1), ms(2)}));
  EXPECT_EQ(analysis::analyze(*changed).chains[0].bound, outlier.bound);
  EXPECT_GT(*analysis::analyze(model).chains[0].bound, 2 * outlier.bound);
}

/// A run that slept once: without it, the callback does not suspend itself.
TEST(Outlier, MayBeASuspension) {
  ModelBuilder builder;
  builder.chain({builder.timer(builder.executor(), ms(1), model::every(ms(100)))}, ms(30));
  model::Model model = builder.model();
  model.callbacks[0].suspension =
      model::Suspension{.curve = {ms(50), ms(50)}, .times_in_a_row = {1, 1}};
  model.provenance = R"({"outliers": [
      {"of": "suspension", "id": "c0", "value": 50000000, "at": 42, "without": [0, 0]}]})";
  const Advice advice = advise(model, on_cores(1));
  ASSERT_EQ(advice.outliers.size(), 1U);
  const Outlier& outlier = advice.outliers.front();
  EXPECT_EQ(outlier.observation.value, ms(50));
  EXPECT_EQ(outlier.bound, ms(1));
  const auto changed = with_changes("without(suspension of c0)", model);
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(changed->callbacks[0].suspension, std::nullopt);
}

TEST(Outlier, IsNoneWhereTheModelHasItNoMore) {
  model::Model model = model_with_a_late_wake_up();
  model.executors[0].overhead = {ms(5)};
  EXPECT_TRUE(advise(model, on_cores(1)).outliers.empty());
  EXPECT_THAT(with_changes("without(overhead of e0)", model).error().message,
              testing::HasSubstr("no such observation"));
}

TEST(Admission, CountsCoresOfWholeProcessorsAndReservationsWhereTheyAre) {
  const model::ReservationSupply supply{ms(5), ms(10), ms(10)};
  ModelBuilder builder;
  const auto whole = builder.timer(builder.executor(), ms(1), model::every(ms(100)));
  // Best effort, as no chain needs it.
  builder.timer(builder.executor(), ms(1), model::every(ms(100)));
  const auto reserved = builder.timer(builder.executor(supply), ms(1), model::every(ms(100)));
  builder.timer(builder.executor(supply), ms(1), model::every(ms(100)));
  builder.chain({whole}, ms(10));
  builder.chain({reserved}, ms(10));
  model::Model& model = builder.model();
  const std::vector<std::size_t> both{0, 1};
  const auto admits = [&](int cores, std::span<const std::size_t> chains) {
    return admit(model, chains, on_cores(cores, 0.9).cores);
  };
  // 0.5 + 0.5 fit on one core less than there are: GFB's limit on two is 1.5, on one 0.9.
  EXPECT_TRUE(admits(3, both));
  EXPECT_FALSE(admits(2, both));
  EXPECT_TRUE(admits(2, std::span(both).last(1)));
  EXPECT_FALSE(admits(1, std::span(both).first(1)));
  // A core of its own each.
  model.executors[2].cpu = 0;
  model.executors[3].cpu = 1;
  EXPECT_TRUE(admits(3, both));
  model.executors[3].cpu = 0;
  EXPECT_FALSE(admits(3, both));
  // Nothing is known of one that is bound beside one that is not.
  model.executors[3].cpu.reset();
  EXPECT_FALSE(admits(3, both));
}

/// What another chain has is not given away.
TEST(Advice, LosesNoOtherGoal) {
  TwoCallbacks callbacks(ExecutorKind::fixed_priority, ms(25));
  model::Model& model = callbacks.model();
  for (std::size_t c = 0; c < 3; ++c) {
    model.callbacks[c].priority = static_cast<std::int64_t>(c);
  }
  const Duration present = *analysis::analyze(model).callbacks[2].bound;
  model::Chain& jealous = model.chains.emplace_back();
  jealous.id = "jealous";
  jealous.callbacks = {model::CallbackIndex{2}};
  jealous.goal = present;
  EXPECT_EQ(advised(model).find("priority(c0)"), std::string::npos);
}

}  // namespace
}  // namespace takt::budget
