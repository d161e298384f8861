#include "takt/budget/sensitivity.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "bisection.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/base/json_text.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::budget {

namespace {

using analysis::Bounds;
using analysis::ChainBound;
using model::CallbackIndex;
using model::ExecutorIndex;

using Json = nlohmann::ordered_json;

bool holds(const Bounds& bounds) {
  const bool any_goal = std::ranges::any_of(
      bounds.chains, [](const ChainBound& chain) { return chain.goal.has_value(); });
  if (!any_goal) return bounds.converged;
  return std::ranges::all_of(bounds.chains,
                             [](const ChainBound& chain) { return chain.met().value_or(true); });
}

/// The greatest time up to `most` for which `holds` is true. It must be true for 0.
template <typename Holds>
Duration greatest(Duration most, Holds holds) {
  const auto holds_for = [&](std::int64_t time) { return time == 0 || holds(Duration{time}); };
  return Duration{closest(most.count(), std::int64_t{0}, holds_for).value()};
}

}  // namespace

Sensitivity sensitivity(const model::Model& model, const analysis::Options& options) {
  Sensitivity result;
  result.analysis = to_string(options.method);
  result.model = model.name;
  analysis::Analyzer analyzer(model, options);
  result.met = holds(analyzer.bounds());
  if (!result.met) return result;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const CallbackIndex callback{c};
    const std::vector<Duration>& curve = model.callbacks[c].execution_time;
    // n instances cost n times the growth more, which keeps the curve sub-additive.
    const auto with_growth = [&](Duration growth) {
      std::vector<Duration> grown = curve;
      for (std::size_t n = 0; n < curve.size(); ++n) {
        grown[n] += static_cast<std::int64_t>(n + 1) * growth;
      }
      analyzer.set_execution_time(callback, std::move(grown));
      return holds(analyzer.bounds());
    };
    const Duration most = std::min(options.horizon, (curves::longest_time - curve.back()) /
                                                        static_cast<std::int64_t>(curve.size()));
    result.callbacks.push_back({model.callbacks[c].id, greatest(most, with_growth)});
    analyzer.set_execution_time(callback, curve);
  }
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    const auto* reservation = std::get_if<model::ReservationSupply>(&model.executors[e].supply);
    if (reservation == nullptr) continue;
    const ExecutorIndex executor{e};
    const auto with_less = [&](Duration less) {
      analyzer.set_budget(executor, reservation->budget - less);
      return holds(analyzer.bounds());
    };
    const Duration less = greatest(reservation->budget - epsilon, with_less);
    result.executors.push_back(
        {model.executors[e].id, reservation->budget, reservation->budget - less});
    analyzer.set_budget(executor, reservation->budget);
  }
  return result;
}

std::string Sensitivity::to_json() const {
  Json document{{"format", "takt/sensitivity"},     {"version", 1}, {"analysis", analysis},
                {"provenance", {{"model", model}}}, {"met", met},   {"callbacks", Json::array()},
                {"executors", Json::array()}};
  for (const Callback& callback : callbacks) {
    document["callbacks"].push_back({{"id", callback.id}, {"growth", callback.growth.count()}});
  }
  for (const Executor& executor : executors) {
    document["executors"].push_back({{"id", executor.id},
                                     {"budget", executor.budget.count()},
                                     {"smallest_budget", executor.smallest_budget.count()}});
  }
  return json_text(document, 1) + "\n";
}

}  // namespace takt::budget
