#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "busy_window/offset_sweep.hpp"
#include "default_executor/jobs.hpp"
#include "default_executor/round_robin.hpp"
#include "executors/executor_analysis.hpp"

namespace takt::analysis {

/// The default single-threaded executor (ros-llama S-3.3 to S-3.6). It takes the pending instances
/// of polled callbacks at polling points and runs each polled callback at most once between two of
/// them. Privileged callbacks, as timers may be, run first at every decision.
///
///   polled callbacks      Theorem 2 (round_robin.hpp) and Theorem 3 (windows of the executor)
///   privileged callbacks  non-preemptive fixed priority (S-3.6)
///
/// An event source is such an executor with a single privileged callback.
class DefaultExecutor final : public ExecutorAnalysis {
 public:
  /// `privileged`: the name of the analysis of privileged callbacks, for users.
  DefaultExecutor(const Round& round, ExecutorIndex executor, std::string_view privileged);

  void begin_round() override;
  [[nodiscard]] Duration least_bound(CallbackIndex callback) const override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] LocalBound narrowed(CallbackIndex callback) override;
  using ExecutorAnalysis::narrowed;
  [[nodiscard]] Int128 long_run_response(CallbackIndex callback,
                                         const LongRunPoint& point) override;
  [[nodiscard]] std::optional<Reason> divergence(CallbackIndex callback) const override;
  [[nodiscard]] bool decides_divergence() const override { return true; }

 private:
  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  /// pp(c), Def. 5: the most polling points in the response times of a chain's instances.
  [[nodiscard]] std::int64_t polling_points(std::span<const CallbackIndex> chain) const;
  /// The same in a response time of a single callback. As many as fit into its queue see it before
  /// it is taken (docs/analysis-theory.md, "Queues that displace").
  [[nodiscard]] static std::int64_t polling_points(const Member& member, Duration response);
  /// The size of the member's queue; unbounded_count if messages do not displace others.
  [[nodiscard]] static std::int64_t depth(const Member& member);
  /// A timer's expiries do not pass through a queue.
  [[nodiscard]] static bool displaces(const Member& member);
  /// Whether of two members of one ready set the former may run before the latter.
  [[nodiscard]] bool may_precede(std::size_t one, std::size_t other) const;
  /// Lemma 4: before the instance of member `victim`, at most this many more instances of member
  /// `other` run than there are polling points.
  [[nodiscard]] std::int64_t extra_instances(std::size_t other, std::size_t victim) const;

  /// The least bound of a polled callback that agrees with both theorems.
  [[nodiscard]] LocalBound polled(std::size_t index);

  // Theorem 2.
  [[nodiscard]] RoundRobin round_robin(std::size_t index,
                                       std::span<RoundRobin::Other> others) const;
  void add_others(std::size_t index, std::vector<RoundRobin::Other>& others) const;
  /// The least bound that agrees with Theorem 2 and is at least `present`. Above the limit it
  /// returns a lower bound of it.
  [[nodiscard]] Duration rise(std::size_t index, Duration present, Duration limit);
  [[nodiscard]] Terms round_robin_terms(std::size_t last, std::int64_t points,
                                        const Witness& witness) const;
  /// A lower bound, at least `present`, of any bound of a single callback that agrees with Theorem
  /// 2 under the present bounds of all others; unbounded_time if there is none.
  [[nodiscard]] Duration long_run_round_robin(std::size_t index, Duration present);
  /// The same for all bounds that grow together: see LongRunPoint.
  [[nodiscard]] Int128 long_run_round_robin(std::size_t index, const LongRunPoint& point) const;

  // Theorem 3.
  [[nodiscard]] Interferer limited_interferer(std::size_t other, std::size_t victim,
                                              std::int64_t points) const;
  [[nodiscard]] BusyWindow processing_window(std::size_t index, std::int64_t points) const;
  /// The longest response of a single callback; stops searching as soon as one reaches `enough`.
  [[nodiscard]] LongestResponse busy_window(std::size_t index, std::int64_t points,
                                            Duration enough);
  void begin_sweep(std::size_t index, std::int64_t points);
  [[nodiscard]] LocalBound busy_window_of_chain(std::size_t last, std::int64_t points);

  // Both theorems, and what messages within the executor must have waited for (narrowed.cpp).

  /// An instance from its activation on. It is activated by an instance of `sender`, a callback of
  /// the executor that is running then; without a sender by something else.
  struct Direct {
    std::size_t victim = 0;
    std::optional<std::size_t> sender;
    std::int64_t points = 0;
    Duration offset{};
    /// Instances of the victim that go before.
    std::int64_t earlier = 0;
  };
  [[nodiscard]] const Jobs& jobs() const;
  [[nodiscard]] BusyWindow narrowed_window(std::size_t index, std::int64_t points) const;
  [[nodiscard]] std::vector<Direct> direct(std::size_t index, std::int64_t points,
                                           const BusyWindow& window, Duration offset) const;
  /// The most that the jobs of a group demand before the victim, all together.
  struct JobDemand {
    struct Root {
      std::size_t rank = 0;
      /// No job lasts longer than this; unbounded_time if nothing limits it.
      Duration life{};
      /// The demand of each job; and that of the victim's own job, if it is known to be among them.
      Duration each{};
      std::optional<Duration> own{};
    };
    std::vector<std::size_t> members;
    /// Empty if only the demand of each callback is known.
    std::vector<Root> roots;
  };
  /// The part that counts of the processing window in which the victim is activated: all of it, its
  /// last ε, or nothing, as it has just ended.
  enum class First { all, last_epsilon, none };
  [[nodiscard]] bool runs_from(std::size_t begun, std::size_t other) const;
  [[nodiscard]] std::int64_t instances(const Direct& direct, std::size_t other, Duration x,
                                       First first) const;
  [[nodiscard]] std::vector<JobDemand> job_demands(const Direct& direct, First first) const;
  [[nodiscard]] JobDemand::Root job_demand(const Direct& direct, const Jobs::Group& group,
                                           std::size_t root, First first) const;
  [[nodiscard]] Duration demand(const Direct& direct, const std::vector<JobDemand>& jobs,
                                Duration x, First first) const;
  [[nodiscard]] Completion complete(const Direct& direct) const;
  /// Whether an activation of the victim at a polling point is seen there.
  [[nodiscard]] bool seen_when_activated(const Direct& direct) const;
  [[nodiscard]] Terms direct_terms(const Direct& direct, Duration start) const;

  // S-3.6.
  [[nodiscard]] BusyWindow privileged_window(std::size_t index) const;

  /// A callback's results that later evaluations continue from.
  struct Memory {
    std::optional<RoundRobin> round_robin{};
    /// The longest response found in busy windows with this number of polling points, and whether
    /// it is certain that none is longer.
    std::int64_t polling_points = -1;
    LongestResponse busy_window{.response = epsilon};
    bool longest = false;
    /// How often the round-robin bound has grown.
    int grown = 0;
    /// The proof that the round-robin analysis has no bound, once found.
    std::optional<Utilisation> divergence{};
  };

  std::string_view privileged_;
  /// The jobs by the curves of this round; none if they were not needed so far.
  mutable std::optional<Jobs> jobs_;
  std::vector<Memory> memory_;
  /// The time in which one instance of every callback runs.
  Duration all_once_ = epsilon;
  /// The other callbacks in the round-robin searches of all members.
  std::vector<RoundRobin::Other> others_;
  /// The unfinished pass through the busy windows of one member.
  OffsetSweep sweep_;
  std::optional<std::size_t> swept_;
  std::int64_t swept_points_ = 0;
};

}  // namespace takt::analysis
