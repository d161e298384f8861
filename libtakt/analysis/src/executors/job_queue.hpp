#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// Executors that take every activated instance into a queue at once and run one at a time, without
/// preemption. Their kinds differ in the interference rule: which instances of another callback may
/// go before an instance of the victim.
///
/// Two kinds of busy windows are bounded, and the lower bound counts. A window of the executor
/// begins at a quiet time, so activation curves carry no jitter within it (ros-llama Lemma 18), but
/// less urgent callbacks count with all instances activated before the victim. A window of the
/// victim's level begins when nothing at least as urgent waits: at most one less urgent instance
/// blocks (the classical analyses; component-cps Eq. 3.4, edf-executor Lemma 1).
class JobQueueExecutor : public ExecutorAnalysis {
 public:
  JobQueueExecutor(const Round& round, ExecutorIndex executor);

  void begin_round() override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] LocalBound narrowed(CallbackIndex callback) override;
  [[nodiscard]] LocalBound narrowed(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Int128 long_run_response(CallbackIndex callback,
                                         const LongRunPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const curves::DerivedCurve& activations) const override;

 protected:
  /// How `other` may delay the victim.
  struct Interference {
    /// Some of its instances may be less urgent than the victim: these only block. They do not
    /// block a victim whose activation offset within the window is `blocks_until` or more.
    bool blocks = false;
    Duration blocks_until = curves::unbounded_time;
    /// Some of its instances may be at least as urgent. `limit` bounds those that go before the
    /// victim; none: all that are activated before the victim starts.
    bool precedes = false;
    std::optional<Interferer::Limit> limit{};
  };
  [[nodiscard]] virtual Interference interference(const Member& other,
                                                  const Member& victim) const = 0;
  /// The name of the analysis, for users.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// The bound of a callback or a chain by theorems that hold for this kind alone.
  [[nodiscard]] virtual LocalBound own_bound(std::span<const CallbackIndex>) { return {}; }
  /// A lower bound, in the long run, of a callback's own_bound().
  [[nodiscard]] virtual Int128 long_run_own_bound(CallbackIndex, const LongRunPoint&) {
    return LongRunPoint::most();
  }
  /// Called when curves or costs of the members have changed.
  virtual void renew() {}

  /// Limits an interferer to instances activated no later than the victim.
  static constexpr Interferer::Limit until_victim{.reach = epsilon, .extra = 0};
  /// The interference if deadlines count from the activation of the origin of an instance.
  [[nodiscard]] static Interference by_deadline(const Member& other, const Member& victim);

  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  /// Like own_bound() of a callback, but for narrowed().
  [[nodiscard]] virtual LocalBound narrowed_own(CallbackIndex) { return {}; }

  /// The latest start and completion of an instance that is activated at that offset of a window of
  /// the executor, counted from its activation, by what may wait then.
  [[nodiscard]] virtual Completion from_activation(const Member&, const BusyWindow&,
                                                   Duration) const {
    return {curves::unbounded_time, curves::unbounded_time};
  }

  /// The longest time for which releases put off a decision.
  Duration before_decision_{};
  /// The time for which the last decision about an instance is put off by parts of its own cost:
  /// releases, or its earlier pieces.
  [[nodiscard]] virtual Duration before_decision(const Member&) const { return before_decision_; }

 private:
  /// Gives members costs with their releases (component-cps 3.7), which grow with the curves.
  /// Returns whether costs have changed.
  bool follow_releases();
  /// The window with releases as they come in place of those within the costs of its instances. A
  /// window of a level may begin while releases go on.
  [[nodiscard]] BusyWindow with_releases(const BusyWindow& window, Window which) const;
  /// The length of the longest such window of the executor; unbounded_time without releases.
  [[nodiscard]] Duration length_with_releases();
  [[nodiscard]] BusyWindow executor_window(const Member& victim) const;
  [[nodiscard]] BusyWindow level_window(const Member& victim) const;

  // narrowed.cpp

  /// What may run in windows of a level: callbacks that are at least as urgent as the victim, and
  /// one instance of a less urgent callback that has begun before.
  struct Level {
    std::vector<Interference> how;  // of each member
    /// The less urgent callbacks that may have begun before and send into the level, by rank.
    std::vector<std::size_t> senders;
    /// The longest of the other less urgent callbacks, less ε if it has certainly run before the
    /// window begins.
    Blocking blocking;
  };
  /// None if some instances of a callback are urgent enough and others are not.
  [[nodiscard]] std::optional<Level> level_of(const Member& victim) const;
  /// The number of windows to look at for a level, each with another instance that has begun
  /// before.
  [[nodiscard]] static std::size_t begun_before(const Level& level);
  /// The window with the number `begun` among these.
  [[nodiscard]] BusyWindow narrowed_level(const Member& victim, const Level& level,
                                          std::size_t begun) const;
  [[nodiscard]] BusyWindow narrowed_executor(const Member& victim) const;
  [[nodiscard]] bool narrows() const;
  [[nodiscard]] const Member& least_urgent(std::span<const CallbackIndex> chain) const;

  /// By rank: the members' tasks with the time that releases during an instance add to its cost;
  /// empty if releases cost nothing.
  std::vector<Task> tasks_with_releases_;
  std::vector<Duration> releases_;
  /// By rank: costs with the releases that an instance itself causes on its executor.
  std::vector<Cost> costs_with_sends_;
  /// All other releases, and what one of them costs.
  curves::DerivedCurve released_;
  std::optional<Cost> release_cost_;
  std::optional<Duration> length_with_releases_;
  /// Whether nothing limits the releases during some instance.
  bool endless_releases_ = false;
};

/// Executors with a job queue that order by fixed priorities: of the callback, or of the callbacks
/// that activate it.
class PriorityExecutor : public JobQueueExecutor {
 public:
  using JobQueueExecutor::JobQueueExecutor;

 protected:
  /// Which of two instances of the same priority goes first.
  enum class Ties { first_activated, any };
  [[nodiscard]] static Interference by_priority(const Member& other, const Member& victim,
                                                Ties ties);

  /// From a chain's activation to its completion one of its callbacks waits or runs (Lemma 7), so
  /// it lasts no longer than a busy window of the level of its least urgent callback.
  [[nodiscard]] LocalBound own_bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

 private:
  [[nodiscard]] BusyWindow chain_window(std::span<const CallbackIndex> chain) const;
};

}  // namespace takt::analysis
