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
/// While an instance of a callback waits and a slot of it is open, either an instance of the same
/// callback runs, or one of another that has begun in a slot before. Such an overrun ends no later
/// than if it had begun at the very end of its slot with its longest execution. So what is left of
/// the callback's slots after the longest overruns serves it alone, and the n-th instance of a busy
/// window has started when these slots have supplied what the ones before it occupy, and ε more.
///
/// On a reservation, an instance occupies the executor for as long as its execution may take from
/// when it starts, sbf^-1(ET(1)).
class TableDrivenExecutor final : public ExecutorAnalysis {
 public:
  TableDrivenExecutor(const Round& round, ExecutorIndex executor);

  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override {
    return sum_of_callbacks(chain);
  }

 private:
  /// What is left of the callback's slots after the overruns of others; none: nothing.
  [[nodiscard]] std::optional<curves::SupplyBound> own_slots(CallbackIndex callback) const;
  /// The longest time that n consecutive instances occupy the executor.
  [[nodiscard]] Duration occupied(const Cost& cost, std::int64_t n) const;

  /// By rank.
  std::vector<std::optional<curves::SupplyBound>> own_slots_;
};

}  // namespace takt::analysis
