#include <algorithm>
#include <numeric>

#include "draft.hpp"
#include "takt/generation/load.hpp"

namespace takt::generation {

namespace {

/// What there is for one executor of a processor that it shares by fixed priorities, if each takes
/// as much.
double part_of_shared(const model::Model& model, const model::Executor& executor) {
  const auto* fixed = std::get_if<model::FixedPrioritySupply>(&executor.supply);
  if (fixed == nullptr) return bandwidth(executor.supply);
  double left = 1 - static_cast<double>(fixed->withheld.count()) /
                        static_cast<double>(fixed->withheld_period.count());
  if (!executor.cpu) return left;
  int sharers = 0;
  for (const model::Executor& other : model.executors) {
    if (other.cpu != executor.cpu) continue;
    if (std::holds_alternative<model::ReservationSupply>(other.supply)) {
      left -= bandwidth(other.supply);
    }
    if (std::holds_alternative<model::FixedPrioritySupply>(other.supply)) ++sharers;
  }
  return std::max(0.0, left) / sharers;
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

/// How often consecutive instances suspend themselves: an instance that does so often may come
/// among others that do less often, or not at all.
std::vector<std::int64_t> suspensions(Draft& draft) {
  std::vector<std::int64_t> times{draft.random.between(1, 3)};
  if (!draft.random.chance(draft.shape.cost_curve)) return times;
  const std::int64_t others = draft.random.between(0, times.front());
  for (auto more = draft.random.between(1, 3); more > 0; --more) {
    times.push_back(times.back() + others);
  }
  return times;
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
      const double mean = part_of_shared(model, model.executors[e]) *
                          static_cast<double>(utilisation) / 100 * static_cast<double>(shares[i]) /
                          static_cast<double>(all) / rate_of[callbacks[i].value()];
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

void add_suspensions(Draft& draft) {
  for (model::Callback& callback : draft.model.callbacks) {
    if (!draft.with(draft.shape.suspension)) continue;
    const auto longest = std::max<std::int64_t>(1, callback.execution_time.front().count());
    const std::int64_t mean = draft.random.between(1, longest);
    callback.suspension = model::Suspension{.curve = cost_curve(draft, mean)};
    callback.suspension->set_times(suspensions(draft));
  }
}

}  // namespace takt::generation
