#include <algorithm>
#include <numeric>

#include "draft.hpp"

namespace takt::generation {

namespace {

double rate(const model::Activation& activation) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return 1.0 / static_cast<double>(periodic->period.count());
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return 1.0 / static_cast<double>(sporadic->min_separation.count());
  }
  const auto& values = std::get<model::MinDistanceActivation>(activation).values;
  return static_cast<double>(values.size() - 1) / static_cast<double>(values.back().count());
}

double bandwidth(const model::Supply& supply) {
  if (const auto* reservation = std::get_if<model::ReservationSupply>(&supply)) {
    return static_cast<double>(reservation->budget.count()) /
           static_cast<double>(reservation->period.count());
  }
  if (const auto* slots = std::get_if<model::SlotSupply>(&supply)) {
    Duration supplied{0};
    for (const model::Slot& slot : slots->slots) supplied += slot.end - slot.start;
    return static_cast<double>(supplied.count()) / static_cast<double>(slots->cycle.count());
  }
  return 1;
}

/// The long-run rate of activations of each callback, as if no trigger set or join suppressed any.
/// Edges from later callbacks are left out.
std::vector<double> rates(const model::Model& model) {
  std::vector<double> rates;
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const model::Callback& callback = model.callbacks[i];
    rates.push_back(callback.activation ? rate(*callback.activation) : 0);
    if (callback.kind == CallbackKind::timer || callback.kind == CallbackKind::event_source) {
      continue;
    }
    for (const model::Edge& edge : model.edges) {
      if (edge.to == CallbackIndex{i} && edge.from < edge.to) rates[i] += rates[edge.from.value()];
    }
  }
  return rates;
}

}  // namespace

void add_costs(Draft& draft) {
  Random& random = draft.random;
  const Shape& shape = draft.shape;
  model::Model& model = draft.model;
  const std::vector<double> rate_of = rates(model);
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    const std::vector<CallbackIndex> callbacks = draft.callbacks_of(ExecutorIndex{e});
    const auto utilisation = random.between(shape.least_utilisation, shape.most_utilisation);
    std::vector<std::int64_t> shares;
    for (std::size_t i = 0; i < callbacks.size(); ++i) shares.push_back(random.between(1, 10));
    const auto all = std::reduce(shares.begin(), shares.end());
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      const double mean = bandwidth(model.executors[e].supply) * static_cast<double>(utilisation) /
                          100 * static_cast<double>(shares[i]) / static_cast<double>(all) /
                          rate_of[callbacks[i].value()];
      model.callbacks[callbacks[i].value()].execution_time =
          draft.with(shape.zero_cost)
              ? std::vector{Duration{0}}
              : cost_curve(draft, std::max<std::int64_t>(1, static_cast<std::int64_t>(mean)));
    }
  }
}

std::vector<Duration> cost_curve(Draft& draft, std::int64_t mean) {
  const auto length = draft.random.between(2, 4);
  const auto rest = std::max<std::int64_t>(1, mean / 4);
  if (mean < 2 || !draft.random.chance(draft.shape.cost_curve)) return {Duration{mean}};
  // The n consecutive instances that cost most begin with the long one.
  std::vector<Duration> curve{Duration{mean * length - rest * (length - 1)}};
  for (std::int64_t n = 1; n < length; ++n) curve.push_back(curve.back() + Duration{rest});
  return curve;
}

}  // namespace takt::generation
