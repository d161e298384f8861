#pragma once

#include <optional>
#include <span>
#include <vector>

#include "executor_analysis.hpp"

namespace takt::analysis {

/// An executor that goes by a table (performance-engineering 3.1; scheduling::TableDrivenPolicy):
/// an instance starts only within a slot of its callback, and then runs to its end, which may be
/// after the slot's.
///
/// An instance that begins at the very end of its slot, with its longest execution, takes away the
/// beginning of the next slots; whatever else began before them ends no later. In what is left of a
/// slot of length l, instances of its callback that wait start one after the other, each at most
/// ET(1) after the one before: at least ceil(l / ET(1)) of them. So the start of the n-th instance
/// that waits follows from counting slots, and is latest if it begins to wait as a slot ends.
///
/// A chain through the executor whose head is activated at most once in any cycle, and whose other
/// callbacks are activated by it alone, goes from slot to slot: let G_i(t) be the latest start of
/// its i-th callback if the head is activated at t and each starts at once in an open slot, or as
/// the next one opens, after its longest predecessor. G_i is monotone, and G_i(t + cycle) =
/// G_i(t) + cycle. No instance starts later, even if it has to wait for the one before: that has
/// started by G_i(t') at the latest, t' <= t - cycle, so at G_i(t') + cycle <= G_i(t) the slot is
/// open to the next.
///
/// On a reservation, or in slots of the thread's own, there is no bound: there may be no supply
/// whenever a slot is open.
class TableDrivenExecutor final : public ExecutorAnalysis {
 public:
  TableDrivenExecutor(const Round& round, ExecutorIndex executor);

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, Duration response) override;
  [[nodiscard]] Wide least_response(CallbackIndex callback, const FluidPoint& point) override;
  [[nodiscard]] Line long_run_demand(CallbackIndex callback,
                                     const DerivedCurve& activations) const override;

 private:
  /// A slot of a callback, from where no instance of another slot runs any more.
  struct OpenSlot {
    Duration start{};
    Duration end{};
    /// The instances that start in it at least, if they wait.
    std::int64_t starts = 0;
  };

  [[nodiscard]] Duration longest(CallbackIndex callback) const {
    return round_.system[callback].cost(1);
  }
  [[nodiscard]] std::vector<OpenSlot> open_slots(CallbackIndex callback) const;
  /// From when instances of the member wait, the latest start of the one that `earlier` precede.
  [[nodiscard]] Duration latest_start(const Member& member, std::int64_t earlier) const;
  [[nodiscard]] std::int64_t starts_per_cycle(const Member& member) const;
  /// The longest way through the slots of a chain; none if it may be longer than that.
  [[nodiscard]] std::optional<Duration> longest_way(std::span<const CallbackIndex> chain) const;
  /// The latest completion of the chain that begins to wait at `at`, within [0, cycle).
  [[nodiscard]] Duration way(std::span<const CallbackIndex> chain, Duration at) const;
  struct LongestResponse {
    Duration response = epsilon;
    /// How many go before the instance, and when after the first of them it is activated.
    std::int64_t earlier = 0;
    Duration activation{};
  };
  /// None: it has no limit, or is beyond the horizon.
  [[nodiscard]] std::optional<LongestResponse> longest_response(const Member& member) const;
  /// How many instances in a row must be looked at, if they wait or run without a break. As many as
  /// there are, if they come less often than they can start; up to where all repeats if they come
  /// exactly as often; none: they come more often, or it is not known.
  [[nodiscard]] std::optional<std::int64_t> most_instances(const Member& member) const;

  /// None: the model has none for it.
  const model::SlotTable* table_;
  /// By rank.
  std::vector<std::vector<OpenSlot>> slots_;
};

}  // namespace takt::analysis
