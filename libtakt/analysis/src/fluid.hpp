#pragma once

#include <memory>
#include <vector>

#include "long_run.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/time/time.hpp"

/// The equations of a component of executors with lines in place of curves: what its bounds do in
/// the long run. All is rounded towards what is certain.
namespace takt::analysis {

/// Times are counted in units of 2^-16 ns, demands in units of 2^-56 ns.
inline constexpr int time_bits = 16;

/// What activates a callback, as a line: in a window Δ the callback needs at least share·Δ of a
/// processor, and `fixed` and the responses that bring its activations forward on top.
struct Flow {
  struct Passed {
    CallbackIndex through;
    Wide share = 0;
  };
  struct Start {
    /// In units of 2^-40 ns.
    Wide fixed = 0;
    std::vector<Passed> passed;
  };
  /// False: nothing is known, and all else is 0.
  bool known = false;
  Wide share = 0;
  /// What an instance costs in the long run, in units of 2^-40 ns.
  Wide cost = 0;
  /// In any window, and in those that begin at a quiet time of its executor.
  Start ordinary;
  Start busy;
};

/// A point among the bounds of all callbacks, or a direction: in a direction all that does not grow
/// with the bounds counts as 0.
///
/// Every analysis has an equation G in terms of these (ExecutorAnalysis::least_response) such that
/// bounds R that agree with themselves satisfy R >= G(R), and G(x + t·v) >= G(x) + t·G'(v) for all
/// t >= 0, where G' is G of the direction v.
class FluidPoint {
 public:
  FluidPoint(const std::vector<Flow>& flows, const std::vector<Wide>& responses, bool direction)
      : flows_(flows), responses_(responses), direction_(direction) {}

  /// More than anything.
  [[nodiscard]] static constexpr Wide most() { return Wide{1} << 100; }
  /// A constant time.
  [[nodiscard]] Wide time(Duration time) const {
    return direction_ ? 0 : Wide{time.count()} << time_bits;
  }
  /// A constant demand.
  [[nodiscard]] Wide demand(Duration time) const { return this->time(time) << unit_bits; }
  [[nodiscard]] Wide response(CallbackIndex callback) const { return responses_[callback.value()]; }

  /// The callback's demand in a window of that length.
  [[nodiscard]] Wide demand(CallbackIndex callback, Wide window) const;
  /// The same for windows that begin at a quiet time of its executor.
  [[nodiscard]] Wide busy_demand(CallbackIndex callback, Wide window) const;
  /// The callback's demand in any window if each instance had that cost, in units of 2^-40 ns.
  [[nodiscard]] Wide demand_at_cost(CallbackIndex callback, Wide window, Wide cost) const;
  /// The cost of one instance of the callback.
  [[nodiscard]] Wide one_instance(CallbackIndex callback) const {
    return direction_ ? 0 : flows_[callback.value()].cost << time_bits;
  }

 private:
  [[nodiscard]] Wide start(const Flow::Start& start) const;

  const std::vector<Flow>& flows_;
  const std::vector<Wide>& responses_;
  bool direction_;
};

class ExecutorAnalysis;

/// The flows of a component's callbacks under its present curves; by callback, those of others are
/// not known.
[[nodiscard]] std::vector<Flow> component_flows(
    const System& system, const Curves& curves, const Component& component,
    const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors);

}  // namespace takt::analysis
