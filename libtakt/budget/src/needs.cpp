#include "takt/budget/needs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bisection.hpp"
#include "planner.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/budget/change.hpp"
#include "takt/budget/influence.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "trial.hpp"

namespace takt::budget {

namespace {

using model::CallbackIndex;

/// Changes are looked for in steps of a hundredth: execution times down to one, goals and periods
/// up to ten times as long.
constexpr int unchanged = 100;
constexpr int longest = 1000;
/// At most this many additional cores are tried.
constexpr std::size_t most_cores = 64;

/// The time rounded up to three digits, as reports print it.
Duration rounded_up(Duration time) {
  Duration unit{1};
  while (time / unit >= 1000) unit *= 10;
  return (time + unit - epsilon) / unit * unit;
}

/// The changes that one chain needs.
///
/// They are found as if every executor had all that a core grants, because that is cheap and a
/// lower bound: what does not suffice then never does. A search on the changed model says whether
/// they suffice.
class Remedies {
 public:
  /// The chain is the last and least important one of `chains`.
  Remedies(const model::Model& model, const Options& options, std::vector<std::size_t> chains)
      : model_(model),
        options_(options),
        left_(options.effort),
        chains_(std::move(chains)),
        chain_(chains_.back()),
        alone_(model, options) {
    std::vector<char> involved(model.executors.size(), 0);
    for (const auto executor : influencing(model, model.chains[chain_])) {
      involved[executor.value()] = 1;
      const Range& range = alone_.range(executor);
      if (range.adjustable && range.least <= range.most) {
        alone_.set_budget(executor, range.most);
      }
    }
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (involved[model.callbacks[c].executor.value()] != 0) callbacks_.emplace_back(c);
    }
  }

  /// The steps that find() has taken.
  [[nodiscard]] std::int64_t steps() const { return options_.effort - left(); }

  Needs find() {
    Needs needs;
    needs.least_bound = alone_.bounds().chains[chain_].bound;
    needs.goal = later_goal(needs.least_bound);
    needs.all_execution_times = all_execution_times();
    if (met()) {
      needs.cores = more_cores();
    } else if (callbacks_.size() <= most_callbacks) {
      needs.execution_time = shorter_callback();
      needs.period = longer_period();
    }
    if (callbacks_.size() <= most_callbacks) needs.suspension = shorter_suspension();
    return needs;
  }

 private:
  /// What of the effort is left.
  [[nodiscard]] std::int64_t left() const { return left_ - alone_.steps(); }

  [[nodiscard]] bool met() { return left() > 0 && alone_.met(chain_); }

  [[nodiscard]] bool is_guaranteed(const model::Model& model, Options options) {
    options.effort = left();
    if (options.effort <= 0) return false;
    Planner planner(model, options);
    const bool found = planner.plan(chains_) == Planner::Outcome::found;
    left_ -= planner.steps();
    return found;
  }
  [[nodiscard]] bool is_guaranteed(const model::Model& model) {
    return is_guaranteed(model, options_);
  }

  [[nodiscard]] model::Model with_execution_times(const std::vector<CallbackIndex>& callbacks,
                                                  int percent) const {
    model::Model changed = model_;
    for (const CallbackIndex c : callbacks) {
      auto& curve = changed.callbacks[c.value()].execution_time;
      curve = curves::scaled(curve, percent);
    }
    return changed;
  }

  [[nodiscard]] bool met_with_execution_times(const std::vector<CallbackIndex>& callbacks,
                                              int percent) {
    for (const CallbackIndex c : callbacks) alone_.set_execution_time(c, percent);
    const bool found = met();
    for (const CallbackIndex c : callbacks) alone_.set_execution_time(c, unchanged);
    return found;
  }

  [[nodiscard]] bool met_with_period(CallbackIndex c, Duration period) {
    alone_.set_activation(c, with_period(*model_[c].activation, period));
    const bool found = met();
    alone_.set_activation(c, *model_[c].activation);
    return found;
  }

  std::optional<Duration> later_goal(std::optional<Duration> least_bound) {
    if (!least_bound) return std::nullopt;
    const Duration least = std::max(*model_.chains[chain_].goal, *least_bound);
    if (least > curves::longest_time) return std::nullopt;
    const auto goal = [&](int percent) { return rounded_up(least * percent / 100); };
    model::Model changed = model_;
    const auto percent = closest(unchanged, longest, [&](int p) {
      changed.chains[chain_].goal = goal(p);
      return is_guaranteed(changed);
    });
    if (!percent) return std::nullopt;
    return goal(*percent);
  }

  std::optional<int> all_execution_times() {
    const auto holds = [&](int percent) { return met_with_execution_times(callbacks_, percent); };
    const auto most = closest(unchanged, 1, holds);
    if (!most) return std::nullopt;
    return closest(*most, 1, [&](int percent) {
      return is_guaranteed(with_execution_times(callbacks_, percent));
    });
  }

  std::optional<std::size_t> more_cores() {
    const auto with = [&](std::size_t more) {
      Options options = options_;
      auto& numbers = options.cores.numbers;
      for (; more > 0; --more) numbers.push_back(*std::ranges::max_element(numbers) + 1);
      return options;
    };
    const auto more = closest(
        std::int64_t{1},
        static_cast<std::int64_t>(std::clamp(model_.executors.size(), std::size_t{1}, most_cores)),
        [&](std::int64_t m) { return is_guaranteed(model_, with(static_cast<std::size_t>(m))); });
    if (!more) return std::nullopt;
    return options_.cores.numbers.size() + static_cast<std::size_t>(*more);
  }

  std::optional<NewExecutionTime> shorter_callback() {
    std::optional<CallbackIndex> best;
    int most = 0;
    for (const CallbackIndex c : callbacks_) {
      // Only a change that is smaller than the best so far is of interest.
      const auto percent =
          closest(unchanged, most + 1, [&](int p) { return met_with_execution_times({c}, p); });
      if (!percent || *percent <= most) continue;
      most = *percent;
      best = c;
      if (most == unchanged) break;
    }
    if (!best) return std::nullopt;
    const auto percent =
        closest(most, 1, [&](int p) { return is_guaranteed(with_execution_times({*best}, p)); });
    if (!percent) return std::nullopt;
    return NewExecutionTime{model_[*best].id, {*best}, *percent};
  }

  /// How long the suspensions of one callback may be. It is the callback whose suspensions add most
  /// to the bound.
  std::optional<NewSuspension> shorter_suspension() {
    const auto bound_of = [&](const analysis::Bounds& bounds) {
      return bounds.chains[chain_].bound.value_or(Duration::max());
    };
    std::optional<CallbackIndex> best;
    Duration least = bound_of(alone_.bounds());
    for (const CallbackIndex c : callbacks_) {
      if (!model_[c].suspension || left() <= 0) continue;
      model::Model changed = alone_.model();
      changed.callbacks[c.value()].suspension.reset();
      const analysis::Bounds bounds = analysis::analyze(changed, options_.analysis);
      left_ -= bounds.steps;
      if (bound_of(bounds) >= least) continue;
      least = bound_of(bounds);
      best = c;
    }
    if (!best) return std::nullopt;
    NewSuspension change{model_[*best].id, {*best}};
    const auto percent = closest(unchanged - 1, 0, [&](int p) {
      model::Model changed = model_;
      change.percent = p;
      return budget::apply(Change{change}, changed) && is_guaranteed(changed);
    });
    if (!percent) return std::nullopt;
    change.percent = *percent;
    return change;
  }

  std::optional<NewPeriod> longer_period() {
    std::optional<CallbackIndex> best;
    int least = longest + 1;
    for (const CallbackIndex c : callbacks_) {
      const auto period = period_of(model_[c]);
      if (!period || least == unchanged) continue;
      const auto percent = closest(unchanged, least - 1,
                                   [&](int p) { return met_with_period(c, *period * p / 100); });
      if (!percent) continue;
      least = *percent;
      best = c;
    }
    if (!best) return std::nullopt;
    const Duration present = *period_of(model_[*best]);
    const auto period = [&](int percent) { return rounded_up(present * percent / 100); };
    model::Model changed = model_;
    auto& activation = changed.callbacks[best->value()].activation;
    const auto percent = closest(least, longest, [&](int p) {
      activation = with_period(*activation, period(p));
      return is_guaranteed(changed);
    });
    if (!percent) return std::nullopt;
    return NewPeriod{*best, period(*percent)};
  }

  const model::Model& model_;
  const Options& options_;
  std::int64_t left_;
  std::vector<std::size_t> chains_;
  std::size_t chain_;
  /// Every executor on which the chain depends has all that a core grants.
  Trial alone_;
  /// The callbacks of these executors.
  std::vector<CallbackIndex> callbacks_;
};

}  // namespace

void add_needs(const model::Model& model, const Options& options, ReservationPlan& plan) {
  std::vector<std::size_t> chains;
  for (ChainPlan& planned : plan.chains) {
    chains.push_back(planned.chain);
    if (planned.state == ChainPlan::State::guaranteed) continue;
    Remedies remedies(model, options, std::move(chains));
    planned.needs = remedies.find();
    plan.steps += remedies.steps();
    plan.gave_up = plan.gave_up || remedies.steps() >= options.effort;
    return;
  }
}

}  // namespace takt::budget
