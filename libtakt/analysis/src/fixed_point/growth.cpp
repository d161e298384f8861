#include "fixed_point/growth.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "demand/long_run.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::unbounded_time;

namespace {

constexpr int most_iterations = 128;
/// Growth is tested once in this many steps; at first after each step, because fast growth is soon
/// beyond all times.
constexpr int steps_per_test = 8;
constexpr std::size_t most_callbacks = 1 << 16;  // so that no sum overflows, see long_run.cpp
/// μ is counted in units of 2^-40.
constexpr Int128 mu_one = Int128{1} << 40;

Int128 beyond_all_times() { return Int128{curves::longest_time.count()} << time_bits; }

class Iteration {
 public:
  Iteration(const Round& round, const Component& component,
            const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors)
      : executors_(executors),
        system_(round.system),
        effort_(round.effort),
        demands_(long_run_demands(round, component, executors)),
        effort_of_equation_(system_.executors.size(), 0),
        point_(system_.tasks.size(), 0),
        growth_(system_.tasks.size(), 0) {
    for (const ExecutorIndex executor : component.executors) {
      for (const CallbackIndex callback : system_.executors[executor.value()].callbacks) {
        const LongRunDemand& demand = demands_[callback.value()];
        effort_of_equation_[executor.value()] +=
            1 + demand.ordinary.passed.size() + demand.busy.passed.size();
        const Duration bound = round.response[callback.value()];
        if (bound == unbounded_time || !demands_[callback.value()].known) continue;
        point_[callback.value()] = Int128{bound.count()} << time_bits;
        callbacks_.push_back(callback);
      }
    }
  }

  void run(Growth& result) {
    for (int step = 1; step <= most_iterations; ++step) {
      if (!grow()) return;
      if (step > steps_per_test && step % steps_per_test != 0) continue;
      result.endless = growing(mu_one);
      if (!result.endless.empty()) return;
    }
    // Extrapolate along the callbacks that grow most steeply, without those that hardly grow.
    constexpr std::array<int, 5> bits{30, 20, 10, 5, 1};
    for (const int b : bits) {
      const auto support = growing(mu_one - (mu_one >> b));
      if (support.empty()) continue;
      extrapolate(support);
      return;
    }
  }

  [[nodiscard]] Duration least(CallbackIndex callback) const {
    const Int128 value = point_[callback.value()] >> time_bits;
    return value > curves::longest_time.count() ? unbounded_time
                                                : Duration{static_cast<std::int64_t>(value)};
  }
  [[nodiscard]] const std::vector<CallbackIndex>& callbacks() const { return callbacks_; }

 private:
  [[nodiscard]] Int128 equation(CallbackIndex callback, const LongRunPoint& point) const {
    const std::size_t executor = system_[callback].executor.value();
    effort_.spend(effort_of_equation_[executor]);
    return executors_[executor]->long_run_response(callback, point);
  }

  /// Takes one step. Then the point is x + v and growth_ is v, with G(x) >= x + 2·v. Returns false
  /// if v is 0.
  bool grow() {
    const LongRunPoint point(demands_, point_, false);
    bool any = false;
    for (const CallbackIndex callback : callbacks_) {
      const Int128 here = point_[callback.value()];
      const Int128 step = here > beyond_all_times()
                              ? 0
                              : std::max(Int128{0}, (equation(callback, point) - here) / 2);
      growth_[callback.value()] = std::min(step, beyond_all_times());
      any = any || step > 0;
    }
    for (const CallbackIndex callback : callbacks_) {
      point_[callback.value()] += growth_[callback.value()];
    }
    return any;
  }

  /// The largest set of callbacks with G'(v) >= μ·v if v is 0 for all others; μ in units of 2^-40.
  [[nodiscard]] std::vector<CallbackIndex> growing(Int128 mu) const {
    std::vector<CallbackIndex> support = callbacks_;
    std::vector<Int128> direction = growth_;
    const auto drop = [&](CallbackIndex callback) { direction[callback.value()] = 0; };
    std::erase_if(support, [&](CallbackIndex c) { return direction[c.value()] == 0; });
    for (bool changed = true; changed && !support.empty();) {
      const LongRunPoint along(demands_, direction, true);
      std::vector<CallbackIndex> slower;
      for (const CallbackIndex callback : support) {
        if (ratio(callback, along) < mu) slower.push_back(callback);
      }
      std::ranges::for_each(slower, drop);
      std::erase_if(support, [&](CallbackIndex c) { return direction[c.value()] == 0; });
      changed = !slower.empty();
    }
    return support;
  }

  /// G'(v) / v, in units of 2^-40.
  [[nodiscard]] Int128 ratio(CallbackIndex callback, const LongRunPoint& along) const {
    return std::min(equation(callback, along), beyond_all_times()) * mu_one /
           along.response(callback);
  }

  void extrapolate(const std::vector<CallbackIndex>& support) {
    std::vector<Int128> direction(growth_.size(), 0);
    for (const CallbackIndex c : support) direction[c.value()] = growth_[c.value()];
    const LongRunPoint along(demands_, direction, true);
    Int128 mu = mu_one;
    for (const CallbackIndex callback : support) mu = std::min(mu, ratio(callback, along));
    assert(mu < mu_one && "else the support would grow for ever");
    // From x: 2·v / (1 - μ); v has been taken already.
    for (const CallbackIndex callback : support) {
      const Int128 step = direction[callback.value()];
      point_[callback.value()] += 2 * step * mu_one / (mu_one - mu) - step;
    }
  }

  const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors_;
  const System& system_;
  Effort& effort_;
  std::vector<LongRunDemand> demands_;
  /// By executor: the effort of evaluating one callback's equation.
  std::vector<std::size_t> effort_of_equation_;
  std::vector<CallbackIndex> callbacks_;
  std::vector<Int128> point_;
  std::vector<Int128> growth_;
};

}  // namespace

Growth look_ahead(const Round& round, const Component& component,
                  const std::vector<std::unique_ptr<ExecutorAnalysis>>& executors) {
  Growth growth{.least = round.response, .endless = {}};
  std::size_t callbacks = 0;
  for (const ExecutorIndex e : component.executors) {
    callbacks += round.system.executors[e.value()].callbacks.size();
  }
  if (callbacks > most_callbacks) return growth;
  Iteration iteration(round, component, executors);
  iteration.run(growth);
  for (const CallbackIndex callback : iteration.callbacks()) {
    growth.least[callback.value()] = iteration.least(callback);
  }
  return growth;
}

}  // namespace takt::analysis
