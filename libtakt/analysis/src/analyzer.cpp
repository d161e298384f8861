#include "takt/analysis/analyzer.hpp"

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "describe.hpp"
#include "fixed_point/fixed_point.hpp"
#include "links.hpp"
#include "readings.hpp"
#include "system/system.hpp"

namespace takt::analysis {

struct Analyzer::State {
  State(model::Model given, const Options& options)
      : linked(linked_if_any(given)),
        model(linked ? linked->with_hops.model : std::move(given)),
        system(model),
        solution(system, options) {
    if (!model::has_inferred_joins(model)) return;
    separated = model::separate_inferred_joins(model);
    other = std::make_unique<Analyzer>(separated.model, options);
  }

  /// A model with links is analysed with hops on them; executors and callbacks keep their indices.
  struct Linked {
    model::Model original;
    hops::ModelWithHops with_hops;
    Bounds bounds;
  };
  static std::optional<Linked> linked_if_any(const model::Model& given) {
    if (!hops::has_hops(given)) return std::nullopt;
    return Linked{given, hops::with_hops(given), {}};
  }

  std::optional<Linked> linked;
  model::Model model;
  System system;
  FixedPoint solution;
  /// The bounds under the reading that the model states.
  Bounds bounds;
  bool stale = true;
  /// The other reading of the model's inferred joins, if it has any, and the larger bounds.
  model::SeparatedModel separated;
  std::unique_ptr<Analyzer> other;
  Bounds larger;

  /// Calls `change` with the model that is analysed and with the one that was given.
  template <typename Change>
  void change_models(Change change) {
    change(model);
    if (linked) change(linked->original);
  }
  /// Calls `change` with each callback of the other reading that stands for this one.
  template <typename Change>
  void change_other(CallbackIndex callback, Change change) {
    for (std::size_t i = 0; other && i < separated.callback_of.size(); ++i) {
      if (separated.callback_of[i] == callback) change(CallbackIndex{i});
    }
  }
};

Analyzer::Analyzer(model::Model model, const Options& options)
    : state_(std::make_unique<State>(std::move(model), options)) {
  state_->bounds = blank_bounds(state_->model, options);
}
Analyzer::Analyzer(Analyzer&&) noexcept = default;
Analyzer& Analyzer::operator=(Analyzer&&) noexcept = default;
Analyzer::~Analyzer() = default;

const model::Model& Analyzer::model() const {
  return state_->linked ? state_->linked->original : state_->model;
}

void Analyzer::set_budget(ExecutorIndex executor, Duration budget) {
  state_->change_models([&](model::Model& model) {
    auto& reservation =
        std::get<model::ReservationSupply>(model.executors[executor.value()].supply);
    assert(budget > Duration{0} && budget <= reservation.deadline);
    reservation.budget = budget;
  });
  for (const ExecutorIndex concerned : state_->system.set_supply(state_->model, executor)) {
    state_->solution.changed(concerned);
  }
  if (state_->other) state_->other->set_budget(executor, budget);
  state_->stale = true;
}

void Analyzer::set_execution_time(CallbackIndex callback, std::vector<Duration> curve) {
  state_->change_other(callback,
                       [&](CallbackIndex same) { state_->other->set_execution_time(same, curve); });
  state_->change_models(
      [&](model::Model& model) { model.callbacks[callback.value()].execution_time = curve; });
  state_->system.set_cost(state_->model, callback);
  state_->solution.changed(state_->model[callback].executor);
  state_->stale = true;
}

void Analyzer::set_activation(CallbackIndex callback, model::Activation activation) {
  if (state_->other) state_->other->set_activation(callback, activation);
  state_->change_models([&](model::Model& model) {
    model::Callback& changed = model.callbacks[callback.value()];
    assert(changed.activation);
    changed.activation = activation;
  });
  for (const ExecutorIndex executor : state_->system.set_activation(state_->model, callback)) {
    state_->solution.changed(executor);
  }
  state_->solution.activation_changed(callback);
  state_->stale = true;
}

const Bounds& Analyzer::bounds() {
  const bool was_stale = std::exchange(state_->stale, false);
  if (was_stale) {
    solve(state_->model, state_->system, state_->solution, state_->bounds);
    if (state_->other) {
      state_->larger = state_->bounds;
      take_larger(state_->larger, state_->separated, state_->other->bounds());
    }
  }
  const Bounds& found = state_->other ? state_->larger : state_->bounds;
  if (!state_->linked) return found;
  State::Linked& linked = *state_->linked;
  if (was_stale) linked.bounds = without_hops(found, linked.with_hops, linked.original);
  return linked.bounds;
}

std::size_t Analyzer::analysed_executors() const { return state_->solution.analysed().size(); }

}  // namespace takt::analysis
