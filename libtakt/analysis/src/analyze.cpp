#include "takt/analysis/analyze.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "describe.hpp"
#include "fixed_point.hpp"
#include "system.hpp"

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
  Bounds bounds = blank_bounds(model, options);
  solve(model, system, solution, bounds);
  bounds.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return bounds;
}

}  // namespace takt::analysis
