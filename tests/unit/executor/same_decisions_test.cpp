#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ros.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/waitable.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/policy/describe.hpp"
#include "takt/scheduling/description.hpp"
#include "takt/simulation/simulate.hpp"

// Real executors decide as simulated ones do: what a real run released, and how long its callbacks
// took, is given to the simulator, and callbacks must come in the same order.

namespace takt::executor {
namespace {

using model::CallbackKind;
using model::ExecutorKind;
using scheduling::LocalIndex;
using std::chrono::milliseconds;

constexpr std::size_t callbacks = 9;
constexpr std::size_t most_instances = 2000;

/// Three chains of three callbacks each, headed by timers, that lie on one executor. Chains and
/// edges say how urgent callbacks are; nothing flows along the edges, as releases are given.
model::Model chains(ExecutorKind kind) {
  model::Model model;
  model::Executor& executor = model.executors.emplace_back();
  executor.id = "e";
  executor.kind = kind;
  executor.order = model::CallbackOrder::registered;
  for (std::size_t i = 0; i < callbacks; ++i) {
    model::Callback callback;
    callback.id = std::to_string(i);
    callback.kind = i % 3 == 0 ? CallbackKind::timer : CallbackKind::subscription;
    callback.registration = static_cast<std::int64_t>(i);
    callback.execution_time = {milliseconds(100)};
    if (i % 3 == 0) callback.activation = model::PeriodicActivation{.period = milliseconds(5 + i)};
    callback.priority = static_cast<std::int64_t>(i * 5 % callbacks);
    model.callbacks.push_back(callback);
  }
  for (std::size_t i = 0; i < callbacks; ++i) {
    if (i % 3 == 0) {
      model::Chain& chain = model.chains.emplace_back();
      chain.id = "c" + std::to_string(i);
      for (std::size_t n = 0; n < 3; ++n) chain.callbacks.emplace_back(i + n);
      continue;
    }
    model::Edge& edge = model.edges.emplace_back();
    edge.from = model::CallbackIndex(i - 1);
    edge.to = model::CallbackIndex(i);
    edge.triggered_by.emplace();
  }
  return model;
}

struct RealRun {
  /// By callback of the model, in nanoseconds since the run began.
  std::vector<std::vector<Duration>> releases{callbacks};
  std::vector<std::vector<Duration>> durations{callbacks};
  std::vector<std::size_t> order;
};

/// Writes down what an executor tells its policy and is told by it. Callbacks are numbered as the
/// executor's.
class Recorder final : public scheduling::Policy {
 public:
  Recorder(std::unique_ptr<scheduling::Policy> policy, std::vector<std::size_t> of_model,
           Instant began, RealRun& run)
      : policy_(std::move(policy)), of_model_(std::move(of_model)), began_(began), run_(run) {}

  scheduling::Admission admission(LocalIndex callback) const override {
    return policy_->admission(callback);
  }
  scheduling::Queueing queueing(LocalIndex callback) const override {
    return policy_->queueing(callback);
  }
  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override {
    policy_->release(callback, activation, origin);
    if (admission(callback) == scheduling::Admission::at_once) {
      run_.releases[of_model_[callback.value()]].push_back(activation - began_);
    }
  }
  void withdraw(LocalIndex callback) override {
    policy_->withdraw(callback);
    // The simulator runs every release that is listed: what a newer one displaces is none.
    if (queueing(callback) == scheduling::Queueing::newest_only) {
      run_.releases[of_model_[callback.value()]].pop_back();
    }
  }
  void completed(LocalIndex callback) override { policy_->completed(callback); }

 private:
  bool choose(LocalIndex& chosen) override {
    const auto next = policy_->next();
    if (!next) return false;
    chosen = *next;
    run_.order.push_back(next->value());
    return true;
  }

  std::unique_ptr<scheduling::Policy> policy_;
  std::vector<std::size_t> of_model_;
  Instant began_;
  RealRun& run_;
};

class Decisions : public RosTest {
 protected:
  static bool is_privileged(const scheduling::PolicyDescription& policy, std::size_t callback) {
    return policy.timers == TimerHandling::privileged &&
           policy.callbacks[callback].category == scheduling::Category::timer;
  }

  /// A real run in which each callback releases others while it runs.
  RealRun run(const scheduling::PolicyDescription& policy, const std::vector<std::size_t>& of_model,
              unsigned seed) {
    RealRun result;
    std::mt19937 random(seed);
    std::vector<std::unique_ptr<Waitable>> waitables;
    std::vector<ScheduledExecutable> executables;
    std::unique_ptr<EventsExecutor> executor;
    const Instant began = linux_os::monotonic_now();
    std::size_t released = 0;
    std::vector<Duration> starts;
    Instant latest = began;
    // Simulated instants are distinct, as the executor is told of releases one after the other.
    const auto now = [&] {
      latest = std::max(linux_os::monotonic_now(), latest + epsilon);
      return latest;
    };
    const auto local_of = [&](std::size_t callback) {
      return static_cast<std::size_t>(std::ranges::find(of_model, callback) - of_model.begin());
    };
    const auto release = [&](std::size_t local) {
      ++released;
      if (policy.rule == scheduling::Rule::ready_set && !is_privileged(policy, local)) {
        // The policy learns of these at a polling point only.
        result.releases[of_model[local]].push_back(now() - began);
      }
      waitables[local]->trigger();
    };
    for (std::size_t local = 0; local < callbacks; ++local) {
      waitables.push_back(must(Waitable::create(context_, "w", [&, local] {
        starts.push_back(now() - began);
        // The next of its chain, and heads of any.
        const std::size_t next = of_model[local] + 1;
        if (next % 3 != 0) release(local_of(next));
        const std::size_t room = most_instances > released ? most_instances - released : 0;
        for (std::size_t n = std::min<std::size_t>(random() % 3, room); n > 0; --n) {
          release(local_of(random() % 3 * 3));
        }
      })));
      executables.push_back({.executable = waitables.back().get(), .callback = LocalIndex(local)});
    }
    auto decides = scheduling::make_policy(policy, most_instances);
    executor = must(EventsExecutor::create(
        executables, std::make_unique<Recorder>(std::move(decides), of_model, began, result),
        callbacks, {.own_origin = true}));
    release(0);
    while (must(executor->spin_once(Duration{0}))) {
    }
    // It was never idle, and simulated executors lose no time between callbacks.
    starts.front() = result.releases[of_model[0]].front();
    starts.push_back(now() - began);
    for (std::size_t i = 0; i < result.order.size(); ++i) {
      result.durations[of_model[result.order[i]]].push_back(starts[i + 1] - starts[i]);
    }
    return result;
  }

  void expect_same(const model::Model& model, ExecutorKind kind, simulation::Options options) {
    const auto described = must(policy::describe(model, model::ExecutorIndex(0), kind, options));
    std::vector<std::size_t> of_model;
    const auto in_order = model::callbacks_by_executor(model);
    for (const auto callback : in_order[0]) of_model.push_back(callback.value());
    for (unsigned seed = 0; seed < 5; ++seed) {
      const RealRun real = run(described.policy, of_model, seed);
      ASSERT_GT(real.order.size(), 20U);
      options.duration = std::chrono::hours(1);
      options.timeline = 2 * most_instances;
      for (std::size_t i = 0; i < callbacks; ++i) {
        options.release_times[std::to_string(i)] = real.releases[i];
        options.execution_times[std::to_string(i)] = real.durations[i];
      }
      const simulation::Simulation simulated = must(simulation::simulate(model, options));
      std::vector<std::size_t> real_order;
      for (const std::size_t local : real.order) real_order.push_back(of_model[local]);
      std::vector<std::size_t> simulated_order;
      for (const auto& entry : simulated.timeline) {
        simulated_order.push_back(entry.callback.value());
      }
      EXPECT_EQ(simulated_order, real_order) << "seed " << seed;
    }
  }
};

class SameDecisions : public Decisions, public testing::WithParamInterface<ExecutorKind> {};

TEST_P(SameDecisions, OfARealAndASimulatedRun) { expect_same(chains(GetParam()), GetParam(), {}); }

TEST_F(Decisions, ByEveryKindOfDeadline) {
  for (const policy::EdfDeadlines deadlines :
       {policy::EdfDeadlines::per_instance, policy::EdfDeadlines::frozen_at_completion,
        policy::EdfDeadlines::inherited, policy::EdfDeadlines::per_callback}) {
    simulation::Options options;
    options.edf_deadlines = deadlines;
    expect_same(chains(ExecutorKind::edf), ExecutorKind::edf, options);
  }
}

TEST_F(Decisions, OfTheDefaultExecutorOfBothGenerations) {
  model::Model model = chains(ExecutorKind::single_threaded);
  model.executors[0].timers = TimerHandling::privileged;
  expect_same(model, ExecutorKind::single_threaded, {});
}

INSTANTIATE_TEST_SUITE_P(EveryPolicy, SameDecisions,
                         testing::Values(ExecutorKind::single_threaded, ExecutorKind::events,
                                         ExecutorKind::fixed_priority, ExecutorKind::edf,
                                         ExecutorKind::chain_priority, ExecutorKind::graph_aware),
                         [](const auto& kind) {
                           return std::string(model::to_string(kind.param));
                         });

}  // namespace
}  // namespace takt::executor
