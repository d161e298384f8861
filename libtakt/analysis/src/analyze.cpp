#include "takt/analysis/analyze.hpp"

#include <chrono>

#include "describe.hpp"
#include "fixed_point/fixed_point.hpp"
#include "links.hpp"
#include "readings.hpp"
#include "system/system.hpp"
#include "takt/base/names.hpp"

namespace takt::analysis {

namespace {

constexpr Names methods{std::to_array<Name<Method>>({
    {Method::round_robin, "round_robin"},
    {Method::busy_window, "busy_window"},
    {Method::combined, "combined"},
    {Method::tight, "tight"},
    {Method::exact, "exact"},
    {Method::edf_paper, "edf_paper"},
})};

/// Bounds a model under the reading that all of its joins join.
Bounds analyze_as_given(const model::Model& model, const Options& options) {
  const auto begin = std::chrono::steady_clock::now();
  const System system(model);
  FixedPoint solution(system, options);
  Bounds bounds = blank_bounds(model, options);
  solve(model, system, solution, bounds);
  bounds.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return bounds;
}

}  // namespace

std::string_view to_string(Method method) { return methods.of(method); }
std::optional<Method> method_from_string(std::string_view name) { return methods.find(name); }
std::string all_method_names() { return methods.list(); }

Bounds analyze(const model::Model& model, const Options& options) {
  if (hops::has_hops(model)) {
    const hops::ModelWithHops linked = hops::with_hops(model);
    return without_hops(analyze(linked.model, options), linked, model);
  }
  Bounds bounds = analyze_as_given(model, options);
  if (model::has_inferred_joins(model)) {
    const auto separated = model::separate_inferred_joins(model);
    take_larger(bounds, separated, analyze_as_given(separated.model, options));
  }
  return bounds;
}

}  // namespace takt::analysis
