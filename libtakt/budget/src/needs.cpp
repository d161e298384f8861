#include "needs.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "bisection.hpp"
#include "takt/budget/influence.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "trial.hpp"

namespace takt::budget {

namespace {

using model::CallbackIndex;

/// Changes are looked for in steps of a hundredth: execution times down to one, periods up to ten
/// times as long.
constexpr int unchanged = 100;
constexpr int longest_period = 1000;
/// At most this many additional cores are tried.
constexpr std::size_t most_cores = 64;

std::optional<Duration> period_of(const model::Callback& callback) {
  if (!callback.activation) return std::nullopt;
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&*callback.activation)) {
    return periodic->period;
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&*callback.activation)) {
    return sporadic->min_separation;
  }
  return std::nullopt;
}

model::Activation with_period(model::Activation activation, Duration period) {
  if (auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    periodic->period = period;
  } else {
    std::get<model::SporadicActivation>(activation).min_separation = period;
  }
  return activation;
}

/// One chain, as if every executor that it depends on had a core of its own.
class Alone {
 public:
  Alone(const model::Model& model, const Options& options, std::size_t chain)
      : model_(model), chain_(chain), trial_(model, options) {
    std::vector<char> involved(model.executors.size(), 0);
    for (const auto executor : influencing(model, model.chains[chain])) {
      involved[executor.value()] = 1;
    }
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      if (involved[model.callbacks[c].executor.value()] != 0) callbacks_.emplace_back(c);
    }
  }

  [[nodiscard]] bool met() { return trial_.met(chain_); }

  Needs needs() {
    Needs needs;
    needs.goal = trial_.bounds().chains[chain_].bound;
    if (met()) return needs;
    needs.all_execution_times = closest(
        unchanged, 1, [&](int percent) { return with_execution_times(callbacks_, percent); });
    if (callbacks_.size() <= most_callbacks) {
      needs.execution_time = shorter_callback();
      needs.period = longer_period();
    }
    return needs;
  }

 private:
  bool with_execution_times(const std::vector<CallbackIndex>& callbacks, int percent) {
    for (const CallbackIndex c : callbacks) trial_.set_execution_time(c, percent);
    const bool found = met();
    for (const CallbackIndex c : callbacks) trial_.set_execution_time(c, unchanged);
    return found;
  }

  std::optional<Needs::Change> shorter_callback() {
    std::optional<Needs::Change> best;
    int most = 0;
    for (const CallbackIndex c : callbacks_) {
      // Only a change that is smaller than the best so far is of interest.
      const auto percent =
          closest(unchanged, most + 1, [&](int p) { return with_execution_times({c}, p); });
      if (!percent || *percent <= most) continue;
      most = *percent;
      const std::vector<Duration>& curve = model_[c].execution_time;
      best = Needs::Change{c, curve.front(), curves::scaled(curve, most).front()};
      if (most == unchanged) break;
    }
    return best;
  }

  std::optional<Needs::Change> longer_period() {
    std::optional<Needs::Change> best;
    int least = longest_period + 1;
    for (const CallbackIndex c : callbacks_) {
      const auto period = period_of(model_[c]);
      if (!period || least == unchanged) continue;
      const auto percent = closest(unchanged, least - 1, [&](int p) {
        trial_.set_activation(c, with_period(*model_[c].activation, *period * p / 100));
        return met();
      });
      trial_.set_activation(c, *model_[c].activation);
      if (!percent) continue;
      least = *percent;
      best = Needs::Change{c, *period, *period * least / 100};
    }
    return best;
  }

  const model::Model& model_;
  std::size_t chain_;
  Trial trial_;
  std::vector<CallbackIndex> callbacks_;
};

bool is_guaranteed(const model::Model& model, const Options& options, std::size_t chain) {
  const auto plan = search(model, options);
  return plan && std::ranges::any_of(plan->chains, [&](const ChainPlan& planned) {
           return planned.chain == chain && planned.state == ChainPlan::State::guaranteed;
         });
}

/// Finds changes that make room for a chain that would be guaranteed if it were alone on the cores.
void add_room(const model::Model& model, Options options, std::size_t chain, Needs& needs) {
  options.find_needs = false;
  options.lower = false;
  needs.all_execution_times = closest(unchanged, 1, [&](int percent) {
    model::Model shorter = model;
    for (model::Callback& callback : shorter.callbacks) {
      callback.execution_time = curves::scaled(callback.execution_time, percent);
    }
    return is_guaranteed(shorter, options, chain);
  });
  std::vector<int>& numbers = options.cores.numbers;
  const std::size_t limit = numbers.size() + std::min(model.executors.size(), most_cores);
  while (numbers.size() < limit && !needs.cores) {
    numbers.push_back(*std::ranges::max_element(numbers) + 1);
    if (is_guaranteed(model, options, chain)) needs.cores = numbers.size();
  }
}

}  // namespace

void add_needs(const model::Model& model, const Options& options, ReservationPlan& plan) {
  for (ChainPlan& planned : plan.chains) {
    if (planned.state == ChainPlan::State::guaranteed) continue;
    Alone alone(model, options, planned.chain);
    planned.needs = alone.needs();
    if (planned.state == ChainPlan::State::not_possible && alone.met()) {
      add_room(model, options, planned.chain, *planned.needs);
    }
  }
}

}  // namespace takt::budget
