#include "model_facts.hpp"

#include <functional>
#include <numeric>
#include <utility>
#include <variant>

#include "takt/curves/activation_curve.hpp"
#include "takt/model/order.hpp"
#include "takt/policy/describe.hpp"

namespace takt::policy {

Duration period_of(const model::Activation& activation) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return periodic->period;
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return sporadic->min_separation;
  }
  const auto& distances = std::get<model::MinDistanceActivation>(activation).values;
  const auto rate = curves::ActivationCurve::min_distance(distances).long_run();
  return rate.span / rate.events;
}

InheritedUrgencies::InheritedUrgencies(const model::Model& model)
    : periods(model.callbacks.size(), Duration::max()),
      priorities(model.callbacks.size()),
      deadlines(model.callbacks.size(), Duration::max()) {
  // The priority of a message on its link is no priority of a callback: receivers do not inherit
  // it, but the priority of the sender.
  const auto is_hop = [&](std::size_t callback) {
    return model[model.callbacks[callback].executor].longest_piece > Duration{0};
  };
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const model::Callback& callback = model.callbacks[i];
    if (!is_hop(i)) priorities[i] = callback.priority;
    if (!callback.activation) continue;
    periods[i] = period_of(*callback.activation);
    deadlines[i] = callback.deadline.value_or(periods[i]);
  }
  // Periods and deadlines only shrink along the edges and priorities only rise, so this ends even
  // if there are cycles.
  for (bool changed = true; std::exchange(changed, false);) {
    const auto take = [&](auto& value, const auto& other, auto better) {
      if (!better(other, value)) return;
      value = other;
      changed = true;
    };
    for (const model::Edge& edge : model.edges) {
      if (model::samples_messages(model[edge.to])) continue;
      const std::size_t from = edge.from.value();
      const std::size_t to = edge.to.value();
      take(periods[to], periods[from], std::less{});
      take(deadlines[to], deadlines[from], std::less{});
      if (!model.callbacks[to].priority || is_hop(to)) {
        take(priorities[to], priorities[from], std::greater{});
      }
    }
  }
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    if (is_hop(i)) priorities[i] = model.callbacks[i].priority;
  }
}

const std::vector<CallbackIndex>& ModelFacts::callbacks(ExecutorIndex executor) {
  if (callbacks_.empty()) {
    callbacks_ = model::callbacks_by_executor(model);
    places_ = model::window_places(model);
    positions_.resize(model.callbacks.size());
    for (const auto& on_executor : callbacks_) {
      for (std::size_t i = 0; i < on_executor.size(); ++i) positions_[on_executor[i].value()] = i;
    }
  }
  return callbacks_[executor.value()];
}

const InheritedUrgencies& ModelFacts::urgencies() {
  if (!urgencies_) urgencies_.emplace(model);
  return *urgencies_;
}

std::span<const std::size_t> ModelFacts::incoming(CallbackIndex callback) {
  if (first_.empty()) {
    first_.resize(model.callbacks.size() + 1);
    const auto activates = [&](const model::Edge& edge) { return model::activates(model, edge); };
    for (const model::Edge& edge : model.edges) {
      if (activates(edge)) ++first_[edge.to.value() + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    incoming_.resize(first_.back());
    std::vector<std::size_t> next = first_;
    for (std::size_t e = 0; e < model.edges.size(); ++e) {
      if (activates(model.edges[e])) incoming_[next[model.edges[e].to.value()]++] = e;
    }
  }
  const std::size_t begin = first_[callback.value()];
  return std::span(incoming_).subspan(begin, first_[callback.value() + 1] - begin);
}

}  // namespace takt::policy
