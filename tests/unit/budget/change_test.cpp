#include "takt/budget/change.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "model_builder.hpp"
#include "takt/model/validate.hpp"

namespace takt::budget {
namespace {

using model::ExecutorKind;
using model::ModelBuilder;
using testing::HasSubstr;

/// Two callbacks of one node on a reservation, one of another on a processor of its own.
model::Model two_executors() {
  ModelBuilder builder;
  const auto e = builder.executor(
      model::ReservationSupply{Duration{2'000'000}, Duration{5'000'000}, Duration{5'000'000}});
  const auto f = builder.executor();
  const auto first = builder.timer(e, Duration{50}, model::every(Duration{10'000}));
  const auto second = builder.subscription(e, Duration{70});
  const auto third = builder.subscription(f, Duration{70});
  builder.edge(second, third, Duration{30});
  builder.chain({first, second, third}, Duration{600});
  model::Model model = builder.model();
  model.callbacks[0].node = model.callbacks[1].node = "/node";
  model.callbacks[2].node = "/other";
  model.callbacks[2].topic = "/topic";
  return model;
}

model::Model changed(const std::string& text) {
  model::Model model = two_executors();
  const auto changes = parse_changes(text, model);
  EXPECT_TRUE(changes) << (changes ? "" : changes.error().message);
  for (const Change& change : *changes) EXPECT_TRUE(apply(change, model)) << text;
  EXPECT_TRUE(model::validate(model, "test"));
  return model;
}

/// As analyses print them, as goals name them, and by the node that has no other.
TEST(Change, NamesCallbacksAsPeopleDo) {
  for (const std::string name : {"c2", "/other", "/other:/topic", "/other (/topic)"}) {
    EXPECT_EQ(changed("priority(" + name + ")=9").callbacks[2].priority, 9) << name;
    EXPECT_EQ(changed("time(" + name + ")=3ms").callbacks[2].execution_time.front(),
              Duration{3'000'000})
        << name;
  }
}

TEST(Change, IsReadWrittenAndMade) {
  const model::Model model = changed(" executor = edf,budget(e0)=3.5ms , priority(c2)=-7");
  EXPECT_EQ(model.executors[0].kind, ExecutorKind::edf);
  EXPECT_EQ(model.executors[1].kind, ExecutorKind::edf);
  EXPECT_EQ(std::get<model::ReservationSupply>(model.executors[0].supply).budget,
            Duration{3'500'000});
  EXPECT_EQ(model.callbacks[2].priority, -7);
  EXPECT_EQ(changed("executor(e1)=events").executors[0].kind, ExecutorKind::single_threaded);
  for (const std::string text :
       {"executor=edf",        "executor(e1)=events",    "order=unknown",
        "order(e1)=by_node",   "budget(e0)=3.5ms",       "budget(e0)=0.000001ms",
        "budget(e0)=5ms",      "priority(c2)=-7",        "split(/node)",
        "split(c1)",           "execution_time(c1)=66%", "execution_time(e0)=200%",
        "reserve(e1)=3ms/5ms", "move(/node)=e1",         "move(c2)=e0",
        "time(c1)=3ms",        "time(/node)=0.5ms",      "suspension(c1)=0%",
        "suspension(e0)=66%",  "period(c0)=0.02ms",      "delay=0.00001ms",
        "goal(chain0)=1000ms"}) {
    const auto changes = parse_changes(text, two_executors());
    ASSERT_TRUE(changes) << text;
    EXPECT_EQ(to_string(changes->front(), two_executors()), text);
  }
}

TEST(Change, GivesExecutorsAnOrder) {
  using enum model::CallbackOrder;
  for (const model::Executor& executor : changed("order=registered").executors) {
    EXPECT_EQ(executor.order, registered);
  }
  const model::Model model = changed("order=any_in_category, order(e1)=by_node");
  EXPECT_EQ(model.executors[0].order, any_in_category);
  EXPECT_EQ(model.executors[1].order, by_node);
}

TEST(Change, ScalesLimitsAndPostpones) {
  const model::Model model = changed(
      "execution_time(e0)=50%, execution_time(c2)=10%, period(c0)=20us, delay=10ns, "
      "goal(chain0)=2s");
  EXPECT_THAT(model.callbacks[0].execution_time, testing::ElementsAre(Duration{25}));
  EXPECT_THAT(model.callbacks[1].execution_time, testing::ElementsAre(Duration{35}));
  EXPECT_THAT(model.callbacks[2].execution_time, testing::ElementsAre(Duration{7}));
  EXPECT_EQ(period_of(model.callbacks[0]), Duration{20'000});
  EXPECT_EQ(period_of(model.callbacks[1]), std::nullopt);
  for (const model::Edge& edge : model.edges) EXPECT_LE(edge.delay, Duration{10});
  EXPECT_EQ(model.chains[0].goal, Duration{2'000'000'000});
}

TEST(Change, ScalesAndEndsSuspensions) {
  model::Model model = two_executors();
  for (model::Callback& callback : model.callbacks) {
    callback.suspension = model::Suspension{.curve = {Duration{50}}, .times = 3};
  }
  const auto changed = with_changes("suspension(c0)=10%, suspension(c1)=0%", model);
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->callbacks[0].suspension,
            (model::Suspension{.curve = {Duration{5}}, .times = 3}));
  EXPECT_EQ(changed->callbacks[1].suspension, std::nullopt);
  EXPECT_EQ(changed->callbacks[2], model.callbacks[2]);
}

TEST(Change, MayNameWhatAnEarlierOneHasMade) {
  const auto model = with_changes("split(c1), budget(c1)=1ms", two_executors());
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ(std::get<model::ReservationSupply>(model->executors[2].supply).budget,
            Duration{1'000'000});
}

TEST(Change, SplitsANodeOrACallbackOff) {
  const model::Model callback = changed("split(c1)");
  ASSERT_EQ(callback.executors.size(), 3U);
  EXPECT_EQ(callback.executors[2].id, "c1");
  EXPECT_EQ(callback.executors[2].supply, callback.executors[0].supply);
  EXPECT_EQ(callback.callbacks[1].executor, model::ExecutorIndex{2});
  EXPECT_EQ(callback.callbacks[0].executor, model::ExecutorIndex{0});
  // What passed within the executor takes as long as the slowest message between executors.
  for (const model::Edge& edge : callback.edges) EXPECT_EQ(edge.delay, Duration{30});
  const model::Model node = changed("split(/node)");
  EXPECT_EQ(node.callbacks[0].executor, model::ExecutorIndex{2});
  EXPECT_EQ(node.callbacks[1].executor, model::ExecutorIndex{2});
}

TEST(Change, MovesANodeOrACallbackToAnotherExecutor) {
  model::Model model = two_executors();
  model.callbacks[0].registration = 4;
  model.callbacks[1].registration = 3;
  model.callbacks[2].registration = 7;
  ASSERT_TRUE(budget::apply(parse_changes("move(/node)=/other", model)->front(), model));
  for (const auto& callback : model.callbacks)
    EXPECT_EQ(callback.executor, model::ExecutorIndex{1});
  // After what was there, and among themselves as they were.
  EXPECT_GT(model.callbacks[1].registration, model.callbacks[2].registration);
  EXPECT_GT(model.callbacks[0].registration, model.callbacks[1].registration);

  // Beside any registration.
  model = two_executors();
  model.callbacks[2].registration = std::numeric_limits<std::int64_t>::max();
  ASSERT_TRUE(budget::apply(parse_changes("move(/node)=/other", model)->front(), model));
  EXPECT_LT(model.callbacks[2].registration, model.callbacks[0].registration);

  const model::Model callback = changed("move(c1)=e1");
  EXPECT_EQ(callback.callbacks[0].executor, model::ExecutorIndex{0});
  EXPECT_EQ(callback.callbacks[1].executor, model::ExecutorIndex{1});
  for (const model::Edge& edge : callback.edges) EXPECT_EQ(edge.delay, Duration{30});
}

TEST(Change, AMoveLengthensNoMessageThatPassedBetweenExecutorsBefore) {
  ModelBuilder builder;
  const auto e = builder.executor();
  const auto f = builder.executor();
  builder.executor();
  const auto first = builder.timer(e, Duration{50}, model::every(Duration{10'000}));
  const auto second = builder.subscription(f, Duration{70});
  const auto third = builder.subscription(e, Duration{70});
  builder.edge(first, second, Duration{1});
  builder.edge(second, third, Duration{30});
  builder.edge(first, third, Duration{2});
  const auto moved = with_changes("move(c0)=e2", builder.model());
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->edges[0].delay, Duration{1});
  EXPECT_EQ(moved->edges[1].delay, Duration{30});
  EXPECT_EQ(moved->edges[2].delay, Duration{30});  // it passed within e0
}

TEST(Change, ANodeIsFoundBeforeAnExecutorOfItsName) {
  // split() names its executor after the node.
  const auto model =
      with_changes("split(/node), move(c2)=/node, time(/node)=0.5ms", two_executors());
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->callbacks[2].executor, model->callbacks[0].executor);
  EXPECT_THAT(model->callbacks[0].execution_time, testing::ElementsAre(Duration{500'000}));
  EXPECT_THAT(model->callbacks[2].execution_time, testing::ElementsAre(Duration{70}));
  // A node whose callbacks run on two executors names none.
  const auto apart = with_changes("split(c1), reserve(/node)=1ms/5ms", two_executors());
  ASSERT_FALSE(apart);
  EXPECT_THAT(apart.error().message, HasSubstr("\"/node\" runs on 2 executors; name one"));
}

TEST(Change, ReservesForTheExecutorOfANode) {
  const model::Model model = changed("reserve(/other) = 2ms / 8ms, time(/node)=0.5ms");
  EXPECT_EQ(model.executors[1].supply,
            model::Supply(model::ReservationSupply{Duration{2'000'000}, Duration{8'000'000},
                                                   Duration{8'000'000}}));
  EXPECT_THAT(model.callbacks[0].execution_time, testing::ElementsAre(Duration{500'000}));
  EXPECT_THAT(model.callbacks[1].execution_time, testing::ElementsAre(Duration{500'000}));
  EXPECT_THAT(model.callbacks[2].execution_time, testing::ElementsAre(Duration{70}));
}

TEST(Change, SaysWhatIsWrong) {
  const auto fault = [](std::string_view text) {
    const auto changes = parse_changes(text, two_executors());
    return changes ? std::string() : changes.error().message;
  };
  EXPECT_EQ(
      fault("executor=rapid"),
      "\"executor=rapid\": \"rapid\" is no kind of executor; one of single_threaded, "
      "multi_threaded, events, fixed_priority, edf, chain_priority, graph_aware, table_driven");
  EXPECT_THAT(fault("executor(e7)=edf"),
              HasSubstr("there is no executor or node \"e7\"; executors are e0, e1"));
  EXPECT_THAT(fault("order=sorted"), HasSubstr("\"sorted\" is no order; one of unknown, "));
  EXPECT_THAT(fault("order(e7)=unknown"), HasSubstr("there is no executor or node \"e7\""));
  EXPECT_THAT(fault("budget(e1)=1ms"), HasSubstr("has no reservation"));
  EXPECT_THAT(fault("budget(e0)=6ms"), HasSubstr("up to the reservation's 5ms"));
  EXPECT_THAT(fault("budget(e0)=6"), HasSubstr("a time with its unit"));
  EXPECT_THAT(fault("priority(/node)=7"), HasSubstr("\"/node\" has 2 callbacks; name one"));
  EXPECT_THAT(fault("priority(c0)=high"), HasSubstr("a priority is a whole number"));
  EXPECT_THAT(fault("split(/nothing)"), HasSubstr("there is no callback or node \"/nothing\""));
  EXPECT_THAT(fault("move(c0)=e9"), HasSubstr("there is no executor or node \"e9\""));
  EXPECT_THAT(fault("move(c9)=e0"), HasSubstr("there is no callback or node \"c9\""));
  EXPECT_THAT(fault("time(/nothing)=1ms"), HasSubstr("no callback, node or executor"));
  EXPECT_THAT(fault("time(c0)=1"), HasSubstr("a time with its unit"));
  for (const std::string_view text :
       {"reserve(e1)=3ms", "reserve(e1)=6ms/5ms", "reserve(e1)=3/5", "reserve(e1)=3ms/",
        "reserve(e1)=/5ms", "reserve=3ms/5ms", "move(c0)", "move=e1", "time=3ms"}) {
    EXPECT_NE(fault(text), "") << text;
  }
  for (const std::string_view text : {"", "faster", "executor", "split", "split()", "budget(e0",
                                      "executor=edf,", "split(/node)=3", ")(", "=", "budget=3ms"}) {
    EXPECT_NE(fault(text), "") << text;
  }
}

}  // namespace
}  // namespace takt::budget
