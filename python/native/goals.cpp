#include "takt/goals/goals.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/model/json.hpp"
#include "takt/yaml/quantities.hpp"

namespace takt::native {

namespace {

std::pair<std::string, std::vector<std::string>> apply_goals(const std::string& model_text,
                                                             const std::string& model_source,
                                                             const std::string& goals_text,
                                                             const std::string& goals_source) {
  goals::ParsedGoals parsed = unwrap(goals::parse(goals_text, goals_source));
  model::Model model = unwrap(model::parse(model_text, model_source)).model;
  auto left_out = unwrap(goals::apply(parsed.goals, goals_source, model));
  std::ranges::move(left_out, std::back_inserter(parsed.warnings));
  return {model::to_json(model), std::move(parsed.warnings)};
}

using NamedGoal =
    std::tuple<std::string, std::string, std::string, std::vector<std::string>, std::int64_t>;

std::pair<std::vector<NamedGoal>, std::vector<std::string>> read_goals(const std::string& text,
                                                                       const std::string& source) {
  goals::ParsedGoals parsed = unwrap(goals::parse(text, source));
  std::vector<NamedGoal> found;
  for (goals::Goal& goal : parsed.goals.chains) {
    found.emplace_back(std::move(goal.name), std::move(goal.from), std::move(goal.to),
                       std::move(goal.via), goal.latency.count());
  }
  return {std::move(found), std::move(parsed.warnings)};
}

}  // namespace

void bind_goals(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "parse_time",
      [](const std::string& text) -> std::optional<std::int64_t> {
        const auto time = yaml::parse_time(text);
        return time ? std::optional(time->count()) : std::nullopt;
      },
      "text"_a,
      "Nanoseconds of a time above zero with its unit, as goals have it: \"125ms\", \"0.5 s\". "
      "None\n"
      "if the text is no such time.");
  module.def(
      "goals_tolerance",
      [](const std::string& text, const std::string& source) {
        return unwrap(goals::parse(text, source)).goals.tolerance;
      },
      "text"_a, "source"_a,
      "By how many percent a time may grow by a goals file (YAML); None: it does not say. Raises\n"
      "InputError.");
  module.def("apply_goals", &apply_goals, "model_text"_a, "model_source"_a, "goals_text"_a,
             "goals_source"_a, nanobind::call_guard<nanobind::gil_scoped_release>(),
             "A takt/model document with the chains of a goals file (YAML) in place of its own;\n"
             "the sources name them in messages. Returns the document, and one line for each\n"
             "thing in the goals that was accepted but looks wrong. Raises InputError.");
  module.def(
      "read_goals", &read_goals, "text"_a, "source"_a,
      "The goals of a goals file (YAML), for what is no model: of each its name, from, to,\n"
      "via and the latency in nanoseconds; and the lines of apply_goals. Raises InputError.");
}

}  // namespace takt::native
