#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "executors/all_busy.hpp"
#include "executors/executor_analysis.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

/// Executors whose m threads share the callbacks, and callbacks of one group exclude each other.
/// The bounds hold in whichever order instances are taken, as long as no thread rests while an
/// instance that may run waits; docs/analysis-theory.md has the proofs.
///
/// While an instance waits, an instance of its own group runs, or all m threads run others, each of
/// other groups:
///
///   S = ε + (work of its group) + X,   m · X <= Σ min(work of group g, X)
///
/// so groups never delay each other if there are fewer of them than threads. Three kinds of windows
/// limit what may be pending at the beginning of S, and the lowest bound counts:
///
///   from the activation    anything, up to its own bound earlier (ros-llama Lemma 3)
///   from a group's quiet   nothing of its own group, and something of m - 1 others at most
///   from a quiet executor  nothing, and some thread is always busy
///
/// Each thread has the executor's supply for itself. There are several ways to count the time that
/// reservations withhold, and the lowest bound counts.
class MultiThreaded final : public ExecutorAnalysis {
 public:
  /// The order in which the executor takes instances that are ready.
  enum class Order {
    any,
    first_released,  ///< those of a group, in the order of their activations
  };
  MultiThreaded(const Round& round, ExecutorIndex executor, Order order, std::string_view name);

  void begin_round() override {
    ExecutorAnalysis::begin_round();
    executor_lengths_.fill(std::nullopt);
  }
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Int128 long_run_response(CallbackIndex callback,
                                         const LongRunPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const curves::DerivedCurve& activations) const override;
  [[nodiscard]] std::optional<Reason> divergence(CallbackIndex callback) const override;

 private:
  /// Callbacks that exclude each other, or one that does not even exclude itself.
  struct Unit {
    std::vector<const Member*> members;
    bool exclusive = true;
  };
  /// The time from which work is counted.
  enum class From { activation, quiet_group, quiet_executor };
  /// How the time for which threads lack supply is counted.
  enum class SupplyGap {
    none,
    by_instance,  ///< as a part of each instance
    by_thread,    ///< as much as each thread may lack
    all_threads,  ///< by what all threads are supplied together
    last_thread,  ///< by what the threads are supplied that run the own units, in turn
  };
  static constexpr std::size_t supply_gaps = 5;
  /// What waits: an instance of `victim`, or without a victim all remaining work of the own units.
  struct Waiting {
    From from = From::activation;
    SupplyGap gap = SupplyGap::none;
    const Member* victim = nullptr;
    /// By unit: whether the unit runs only work that goes before it while it waits.
    std::vector<bool> own;
  };
  /// Instances of the own units, each of which costs at most so much.
  struct Held {
    Duration cost{};
    std::int64_t instances = 0;
  };
  /// The work that goes before something that waits, and the longest time that it takes: of the own
  /// units, of others as far as it delays them, and without supply.
  struct Before {
    Duration exclusive{};
    std::int64_t exclusive_instances = 0;
    Duration all_busy{};
    Duration lacking{};
    [[nodiscard]] Duration total() const;
  };

  [[nodiscard]] Terms terms(std::span<const CallbackIndex> chain,
                            const LocalBound& bound) const override;

  [[nodiscard]] bool dedicated() const { return executor_.supply.blackout() == Duration{0}; }
  [[nodiscard]] std::int64_t threads() const { return executor_.description.threads; }
  [[nodiscard]] std::vector<SupplyGap> ways_to_count_gaps() const;
  [[nodiscard]] std::size_t unit_of(const Member& member) const {
    return unit_of_[round_.system[member.callback].rank];
  }

  [[nodiscard]] Waiting waiting_for(const Member& victim) const;
  [[nodiscard]] Waiting waiting_for(std::span<const CallbackIndex> chain) const;
  [[nodiscard]] Waiting waiting_for_all(SupplyGap gap) const;
  [[nodiscard]] Waiting witnessed(std::span<const CallbackIndex> chain,
                                  const Witness& witness) const;
  /// Has activations_of() count what is activated in windows from a quiet time of these units.
  void derive_from_quiet(const Waiting& waiting) const;
  [[nodiscard]] const curves::DerivedCurve& activations_of(const Waiting& waiting,
                                                           const Member& member) const;
  [[nodiscard]] std::int64_t instances(const Waiting& waiting, const Member& member,
                                       Duration offset, Duration x) const;
  [[nodiscard]] std::int64_t width(const Waiting& waiting, const Unit& unit) const;
  [[nodiscard]] Duration work(SupplyGap gap, const Member& member, std::int64_t instances) const;
  /// The work that goes before in the first x of a window in which the victim is activated at
  /// `offset`.
  [[nodiscard]] Before before(const Waiting& waiting, Duration offset, Duration x) const;
  /// Completes what before() has found of the instances, for each way to count the supply.
  void count_by_instance(std::size_t carriers, Before& before) const;
  void count_all_threads(std::size_t carriers, Before& before) const;
  void count_last_thread(std::size_t carriers, Before& before) const;
  [[nodiscard]] Duration longest_held(const Member& member) const;
  /// How many whole budgets a thread may use up for the own units and such work of others.
  [[nodiscard]] std::int64_t budgets_for(Duration others) const;
  /// The time that the victim itself takes from its start.
  [[nodiscard]] Duration last_cost(const Waiting& waiting, Duration offset) const;
  /// The share of a thread that goes before in the long run. If it is a whole thread or more, the
  /// wait never ends.
  [[nodiscard]] Int128 share_before(const Waiting& waiting) const;
  [[nodiscard]] bool ends(const Waiting& waiting) const;

  /// The lowest bound of all windows.
  [[nodiscard]] LocalBound lowest(Waiting waiting) const;
  /// None if it is above `enough`.
  [[nodiscard]] LocalBound from_activation(const Waiting& waiting, Duration enough) const;
  [[nodiscard]] LocalBound from_quiet_group(const Waiting& waiting, Duration enough) const;
  /// A window in which the victim starts later gives no bound up to `enough`.
  [[nodiscard]] Duration latest_start(Duration enough) const {
    return std::min(horizon(), curves::saturating_add(enough, epsilon));
  }
  [[nodiscard]] LocalBound from_quiet_executor(const Waiting& waiting) const;
  /// The longest time without a quiet time of the executor; unbounded_time if there is none, or if
  /// it takes long to find.
  [[nodiscard]] Duration executor_length(SupplyGap gap) const;
  [[nodiscard]] Int128 long_run_response(const Waiting& waiting, const LongRunPoint& point) const;
  /// What an equation for the long run counts of a callback.
  [[nodiscard]] Int128 long_run_work(SupplyGap gap, const Member& member, bool own, Int128 window,
                                     const LongRunPoint& point) const;
  /// What the searches for one callback found in the rounds before. Curves only grow from round to
  /// round, so these searches begin there.
  struct Reached {
    Duration from_activation = epsilon;
    Duration in_group = epsilon;
    Duration group_length = epsilon;
  };
  /// None for a chain, which is bounded once.
  [[nodiscard]] Reached* reached(const Waiting& waiting) const;
  /// A part of a chain on one unit, with its bound.
  struct Part {
    std::span<const CallbackIndex> callbacks;
    LocalBound bound;
  };
  [[nodiscard]] std::vector<Part> parts(std::span<const CallbackIndex> chain) const;

  Order order_;
  std::string_view name_;
  std::vector<Unit> units_;
  /// By rank.
  std::vector<std::size_t> unit_of_;
  /// Of before(): the work of other units, and the instances of the own ones.
  mutable std::vector<SharedWork> shared_;
  mutable std::vector<Held> held_;
  /// By rank and SupplyGap.
  mutable std::vector<std::array<Reached, supply_gaps>> reached_;
  /// By SupplyGap, of this round.
  mutable std::array<std::optional<Duration>, supply_gaps> executor_lengths_;
};

}  // namespace takt::analysis
