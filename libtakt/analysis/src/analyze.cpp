#include "takt/analysis/analyze.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "chains.hpp"
#include "fixed_point.hpp"
#include "reasons.hpp"
#include "system.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

constexpr std::array<std::pair<Method, std::string_view>, 4> methods{{
    {Method::round_robin, "round_robin"},
    {Method::busy_window, "busy_window"},
    {Method::combined, "combined"},
    {Method::edf_paper, "edf_paper"},
}};

}  // namespace

std::string_view to_string(Method method) {
  return std::ranges::find(methods, method, &std::pair<Method, std::string_view>::first)->second;
}

std::optional<Method> method_from_string(std::string_view name) {
  for (const auto& [method, text] : methods) {
    if (text == name) return method;
  }
  return std::nullopt;
}

std::string all_method_names() {
  std::string list;
  for (const auto& [method, name] : methods) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

Bounds analyze(const model::Model& model, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const System system(model);
  FixedPoint solution(system, options);
  solution.solve();

  Bounds bounds;
  bounds.analysis = to_string(options.method);
  bounds.model = model.name;
  bounds.horizon = options.horizon;
  bounds.converged = true;
  for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
    const CallbackIndex callback{c};
    CallbackBound& bound = bounds.callbacks.emplace_back();
    bound.id = model.callbacks[c].id;
    if (solution.response(callback) == curves::unbounded_time) {
      bounds.converged = false;
      bound.reason = why_unbounded(model, system, solution, callback);
    } else {
      bound.bound = solution.response(callback);
      bound.by = solution.by(callback);
    }
  }
  for (const model::Chain& chain : model.chains) {
    bounds.chains.push_back(chain_bound(model, chain, system, solution));
  }
  bounds.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return bounds;
}

}  // namespace takt::analysis
