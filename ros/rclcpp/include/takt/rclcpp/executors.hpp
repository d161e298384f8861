#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "takt/rclcpp/chain.hpp"
#include "takt/rclcpp/executor.hpp"
#include "takt/scheduling/deadline_rule.hpp"

/// The executors by their policies. Each takes the place of rclcpp's SingleThreadedExecutor or,
/// with Options::threads above 1, of its MultiThreadedExecutor. What they declare may be declared
/// and changed at any time, before an entity is added as well.
namespace takt::rclcpp {

/// What an executor of a plan decides by (`takt plan MODEL -o plan.json`), without a change to
/// nodes: callbacks are found by node, kind, and topic, service or period. Those that the plan does
/// not name come last.
class PlannedExecutor final : public Executor {
 public:
  /// `plan`: a file; `executor`: the id of one of its executors, empty: the only one. The plan's
  /// threads, processor and reservation are those of `options`, where these say nothing else.
  /// Throws std::invalid_argument with a line that says what is wrong with the plan.
  explicit PlannedExecutor(const std::string& plan, const std::string& executor = {},
                           Options options = {});

 private:
  PlannedExecutor(const plan::ExecutorPlan& planned, Options options);
};

/// First released, first run.
class EventsExecutor final : public Executor {
 public:
  explicit EventsExecutor(Options options = {});
};

/// Fixed priorities of callbacks; undeclared ones come last.
class FixedPriorityExecutor final : public Executor {
 public:
  explicit FixedPriorityExecutor(Options options = {});
  /// A larger one is more urgent.
  void set_priority(const Entity& callback, std::int64_t priority);
};

/// The shorter the period, the more urgent. Timers have theirs; other callbacks come last unless
/// the shortest time between their activations is declared.
class RateMonotonicExecutor final : public Executor {
 public:
  explicit RateMonotonicExecutor(Options options = {});
  void set_period(const Entity& callback, Duration period);
};

/// Earliest deadline first. An instance's deadline counts from the release of the timer or message
/// from outside on whose behalf it runs. Timers have their period unless declared otherwise.
class EdfExecutor final : public Executor {
 public:
  explicit EdfExecutor(Options options = {});
  void set_deadline(const Entity& callback, Duration deadline);
};

/// Earliest deadline of chain instances first, one instance of a chain in progress at a time
/// (edf-executor 3). A timer at a chain's head that expires again before its instance has started
/// drops the older one. Chains may share their first callback, no other.
class ChainEdfExecutor final : public Executor {
 public:
  explicit ChainEdfExecutor(Options options = {},
                            scheduling::DeadlineRule rule = scheduling::DeadlineRule::per_instance);
  void add_chain(Chain chain);
};

/// Every callback of a more important chain before every one of a less important (PiCAS).
class ChainPriorityExecutor final : public Executor {
 public:
  explicit ChainPriorityExecutor(Options options = {});
  /// The most important first.
  void set_chains(std::vector<Chain> chains);
};

/// Whatever a callback triggers inherits its urgency (component-cps Part 4). Roots are timers and
/// what has a priority; without any, timers are by their rate, else undeclared ones come last. So
/// does what comes from outside for a callback that has none. One thread.
class GraphAwareExecutor final : public Executor {
 public:
  explicit GraphAwareExecutor(Options options = {});
  /// A larger one is more urgent.
  void set_priority(const Entity& root, std::int64_t priority);
};

/// The same with deadlines. Roots are timers, which have their period unless declared otherwise,
/// and what has a deadline.
class GraphAwareEdfExecutor final : public Executor {
 public:
  explicit GraphAwareEdfExecutor(Options options = {});
  void set_deadline(const Entity& root, Duration deadline);
};

/// Instances start only within slots of their callback, in a table that repeats from the zero of
/// CLOCK_MONOTONIC (performance-engineering 3.1). A callback without a slot never runs. One thread.
class TableDrivenExecutor final : public Executor {
 public:
  explicit TableDrivenExecutor(Options options = {});
  /// Throws std::invalid_argument unless the slots are in the order of their starts, do not
  /// overlap, and end within the cycle.
  void set_table(Duration cycle, std::vector<Slot> slots);
};

}  // namespace takt::rclcpp
