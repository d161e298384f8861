#include "takt/model/urgency.hpp"

#include <functional>
#include <set>
#include <utility>
#include <variant>

#include "takt/curves/activation_curve.hpp"
#include "takt/model/order.hpp"

namespace takt::model {

namespace {

Duration period_of(const Activation& activation) {
  if (const auto* periodic = std::get_if<PeriodicActivation>(&activation)) return periodic->period;
  if (const auto* sporadic = std::get_if<SporadicActivation>(&activation)) {
    return sporadic->min_separation;
  }
  const auto rate =
      curves::ActivationCurve::min_distance(std::get<MinDistanceActivation>(activation).values)
          .long_run();
  return rate.span / rate.events;
}

}  // namespace

Urgencies::Urgencies(const Model& model)
    : periods(model.callbacks.size(), Duration::max()),
      priorities(model.callbacks.size()),
      deadlines(model.callbacks.size(), Duration::max()) {
  std::set<CallbackIndex> has_input;
  for (const Edge& edge : model.edges) has_input.insert(edge.to);
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const Callback& callback = model.callbacks[i];
    priorities[i] = callback.priority;
    if (!callback.activation) continue;
    if (!samples_messages(callback) && has_input.contains(CallbackIndex{i})) continue;
    periods[i] = period_of(*callback.activation);
    deadlines[i] = callback.deadline.value_or(periods[i]);
  }
  // What flows along the edges only gets shorter, or higher: it settles, cycles or not.
  for (bool changed = true; std::exchange(changed, false);) {
    const auto take = [&](auto& value, const auto& other, auto better) {
      if (!better(other, value)) return;
      value = other;
      changed = true;
    };
    for (const Edge& edge : model.edges) {
      if (samples_messages(model[edge.to])) continue;
      const std::size_t from = edge.from.value();
      const std::size_t to = edge.to.value();
      take(periods[to], periods[from], std::less{});
      take(deadlines[to], deadlines[from], std::less{});
      if (!model.callbacks[to].priority) take(priorities[to], priorities[from], std::greater{});
    }
  }
}

}  // namespace takt::model
