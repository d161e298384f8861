#include <gtest/gtest.h>

#include "model_builder.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/names.hpp"

namespace takt::analysis {
namespace {

using model::CallbackKind;
using model::CallbackOrder;
using model::ModelBuilder;

/// A callback of 1 beside a subscription of 30, of which two messages come at once every 200.
/// Activated right after the first long instance has begun, the short one waits for it. Whether it
/// also waits for the second one, which the next polling point admits together with it, is a matter
/// of the order.
struct BriefBesideLengthy {
  BriefBesideLengthy(CallbackOrder order, CallbackKind kind, bool same_node,
                     bool privileged = false) {
    const auto executor = builder.executor();
    builder.model().executors[0].order = order;
    if (privileged) builder.model().executors[0].timers = TimerHandling::privileged;
    const auto brief = builder.callback(executor, kind, {Duration{1}}, model::every(Duration{500}));
    const auto lengthy =
        builder.subscription(executor, Duration{30}, model::bursts(2, Duration{200}));
    builder.model().callbacks[brief.value()].node = "/one";
    builder.model().callbacks[lengthy.value()].node = same_node ? "/one" : "/other";
  }

  [[nodiscard]] Duration bound(Method method) {
    const Bounds bounds = analyze(builder.model(), {.method = method});
    EXPECT_TRUE(bounds.unexplored.empty());
    return bounds.callbacks[0].bound.value_or(Duration{0});
  }

  ModelBuilder builder;
};

constexpr Duration behind_one{30};
constexpr Duration behind_both{60};

void expect_longest(Duration exact, CallbackOrder order, CallbackKind kind, bool same_node,
                    bool privileged = false) {
  SCOPED_TRACE(model::to_string(order));
  BriefBesideLengthy pair(order, kind, same_node, privileged);
  EXPECT_EQ(pair.bound(Method::exact), exact);
  for (const Method method :
       {Method::round_robin, Method::busy_window, Method::combined, Method::tight}) {
    EXPECT_GE(pair.bound(method), exact);
  }
  // Of a single callback beside another one the round-robin analysis forgets nothing but the ε.
  EXPECT_LE(pair.bound(Method::round_robin), exact + epsilon);
}

TEST(CallbackOrder, OfOneCategory) {
  expect_longest(behind_one, CallbackOrder::registered, CallbackKind::subscription, true);
  expect_longest(behind_both, CallbackOrder::any_in_category, CallbackKind::subscription, true);
  expect_longest(behind_both, CallbackOrder::by_node, CallbackKind::subscription, true);
  expect_longest(behind_both, CallbackOrder::unknown, CallbackKind::subscription, true);
}

TEST(CallbackOrder, OfDifferentCategoriesInOneNode) {
  expect_longest(behind_one, CallbackOrder::registered, CallbackKind::timer, true);
  expect_longest(behind_one, CallbackOrder::any_in_category, CallbackKind::timer, true);
  expect_longest(behind_one, CallbackOrder::by_node, CallbackKind::timer, true);
  expect_longest(behind_both, CallbackOrder::unknown, CallbackKind::timer, true);
}

TEST(CallbackOrder, OfDifferentCategoriesInTwoNodes) {
  expect_longest(behind_one, CallbackOrder::any_in_category, CallbackKind::timer, false);
  expect_longest(behind_both, CallbackOrder::by_node, CallbackKind::timer, false);
}

TEST(CallbackOrder, PrivilegedTimersComeFirstInAnyOrder) {
  for (const auto order : {CallbackOrder::registered, CallbackOrder::any_in_category,
                           CallbackOrder::by_node, CallbackOrder::unknown}) {
    BriefBesideLengthy pair(order, CallbackKind::timer, false, true);
    EXPECT_EQ(pair.bound(Method::combined), behind_one);
  }
}

/// Two privileged timers of 1 and 30, alone: either may be first where registration does not
/// decide.
TEST(CallbackOrder, OfPrivilegedTimers) {
  const auto bound = [](CallbackOrder order) {
    ModelBuilder builder;
    const auto executor = builder.executor();
    builder.model().executors[0].order = order;
    builder.model().executors[0].timers = TimerHandling::privileged;
    builder.timer(executor, Duration{1}, model::every(Duration{500}));
    builder.timer(executor, Duration{30}, model::every(Duration{500}));
    builder.timer(executor, Duration{40}, model::every(Duration{500}));
    return *analyze(builder.model()).callbacks[0].bound;
  };
  // Behind the longest that had begun, or behind both.
  EXPECT_EQ(bound(CallbackOrder::registered), Duration{40});
  EXPECT_EQ(bound(CallbackOrder::any_in_category), Duration{71});
  EXPECT_EQ(bound(CallbackOrder::unknown), Duration{71});
}

}  // namespace
}  // namespace takt::analysis
