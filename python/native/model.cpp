#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <nlohmann/json.hpp>
#include <string>

#include "native.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

std::string parse_model(const std::string& text, const std::string& source) {
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  return fmt::format("{{\"model\": {}, \"warnings\": {}}}", model::to_json(parsed.model),
                     nlohmann::json(parsed.warnings)
                         .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

void bind_model(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("parse_model", &parse_model, "text"_a, "source"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "Reads and validates a takt/model document; `source` names it in messages.\n"
             "Returns JSON: {\"model\": the document with all defaults filled in, \"warnings\": "
             "[one line each]}. Raises InputError.");
}

}  // namespace takt::native
