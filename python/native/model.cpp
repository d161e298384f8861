#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "takt/model/json.hpp"
#include "takt/model/labels.hpp"
#include "takt/model/names.hpp"
#include "takt/model/parse_document.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::native {

namespace {

std::pair<std::string, std::vector<std::string>> parse_model(const std::string& text,
                                                             const std::string& source) {
  model::ParsedModel parsed = unwrap(model::parse(text, source));
  return {model::to_json(parsed.model), std::move(parsed.warnings)};
}

/// The document's format; none if it says none.
std::optional<std::string> document_format(const std::string& text, const std::string& source) {
  const nlohmann::json document = unwrap(model::parse_document(text, source));
  const auto format = document.is_object() ? document.find("format") : document.end();
  if (format == document.end() || !format->is_string()) return std::nullopt;
  return format->get<std::string>();
}

/// The format that a YAML document says it has; none if it says none, or is no YAML.
std::optional<std::string> yaml_format(const std::string& text) {
  const auto document = yaml::read_yaml(text, "a document");
  if (!document || !document->is_object()) return std::nullopt;
  const auto format = document->find("format");
  if (format == document->end() || !format->is_string()) return std::nullopt;
  return format->get<std::string>();
}

}  // namespace

void bind_model(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("executor_label", &model::executor_label, "executor"_a, "name"_a, "nodes"_a,
             "What people call an executor (takt/model/labels.hpp).");
  module.def("document_format", &document_format, "text"_a, "source"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The format that a JSON document says it has, e.g. \"takt/bounds\"; None if it says "
             "none.\nRaises InputError if it is no JSON.");
  module.def(
      "yaml_format", &yaml_format, "text"_a, nanobind::call_guard<nanobind::gil_scoped_release>(),
      "The format that a YAML document says it has; None if it says none, is no YAML or has\n"
      "more than 1 MiB.");
  nanobind::dict goal_kinds;
  for (const std::string_view name : model::list_names<model::GoalKind>()) {
    const std::string_view words = model::meaning(*model::from_string<model::GoalKind>(name));
    goal_kinds[nanobind::str(name.data(), name.size())] = nanobind::str(words.data(), words.size());
  }
  module.attr("GOAL_KINDS") = goal_kinds;
  module.def("model_schema", &model::schema, "The JSON Schema of takt/model documents.");
  module.def("parse_model", &parse_model, "text"_a, "source"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "Reads and validates a takt/model document; `source` names it in messages.\n"
             "Returns the document with all defaults filled in, and a line for each thing that was "
             "accepted\nbut looks wrong. Raises InputError.");
}

}  // namespace takt::native
