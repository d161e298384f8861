#pragma once

#include <memory>
#include <vector>

#include "activation/propagation.hpp"
#include "demand/demand_line.hpp"
#include "system/system.hpp"
#include "takt/time/time.hpp"

/// The equations of a component of executors with lines in place of curves: how its bounds behave
/// in the long run. All values are rounded to the certain side.
namespace takt::analysis {

/// Times are counted in units of 2^-16 ns, demands in units of 2^-56 ns.
inline constexpr int time_bits = 16;

/// The demand of a callback, as a line: in a window Δ the callback needs at least share·Δ of a
/// processor, plus `fixed`, plus a part for each response in `passed`, as responses of callbacks
/// before it bunch its activations.
struct LongRunDemand {
  struct Passed {
    CallbackIndex through;
    Int128 share = 0;
  };
  struct Start {
    /// In units of 2^-40 ns.
    Int128 fixed = 0;
    std::vector<Passed> passed;
  };
  /// If false, nothing is known, and all other fields are 0.
  bool known = false;
  Int128 share = 0;
  /// The cost of an instance in the long run, in units of 2^-40 ns.
  Int128 cost = 0;
  /// The starts in any window, and in windows that begin at a quiet time of its executor.
  Start ordinary;
  Start busy;
};

/// A point in the space of all callbacks' bounds, or a direction in it. In a direction, whatever
/// does not grow with the bounds counts as 0.
///
/// Every analysis has an equation G in terms of these (ExecutorAnalysis::long_run_response) such
/// that bounds R that agree with themselves satisfy R >= G(R), and G(x + t·v) >= G(x) + t·G'(v) for
/// all t >= 0, where G' is G of the direction v.
class LongRunPoint {
 public:
  LongRunPoint(const std::vector<LongRunDemand>& demands, const std::vector<Int128>& responses,
               bool direction)
      : demands_(demands), responses_(responses), direction_(direction) {}

  /// A value larger than any that occurs.
  [[nodiscard]] static constexpr Int128 most() { return Int128{1} << 100; }
  /// A constant time.
  [[nodiscard]] Int128 time(Duration time) const {
    return direction_ ? 0 : Int128{time.count()} << time_bits;
  }
  /// A constant demand.
  [[nodiscard]] Int128 demand(Duration time) const { return this->time(time) << unit_bits; }
  [[nodiscard]] Int128 response(CallbackIndex callback) const {
    return responses_[callback.value()];
  }

  /// The callback's demand in a window of that length; `busy`: that begins at a quiet time of its
  /// executor.
  [[nodiscard]] Int128 demand(CallbackIndex callback, Int128 window, bool busy = false) const;
  /// The callback's demand in any window if each instance had that cost, in units of 2^-40 ns.
  [[nodiscard]] Int128 demand_at_cost(CallbackIndex callback, Int128 window, Int128 cost) const;
  /// The cost of one instance of the callback.
  [[nodiscard]] Int128 one_instance(CallbackIndex callback) const {
    return direction_ ? 0 : demands_[callback.value()].cost << time_bits;
  }

 private:
  [[nodiscard]] Int128 start(const LongRunDemand::Start& start) const;

  const std::vector<LongRunDemand>& demands_;
  const std::vector<Int128>& responses_;
  bool direction_;
};

class ExecutorAnalysis;
struct Round;

/// The demands of a component's callbacks under its present curves, by callback. The demands of
/// other callbacks are not known.
[[nodiscard]] std::vector<LongRunDemand> long_run_demands(
    const Round& round, const Component& component,
    const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors);

}  // namespace takt::analysis
