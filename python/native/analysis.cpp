#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "native.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

std::string analyze(const std::string& text, const std::string& source,
                    const std::string& analysis) {
  const auto method = analysis::method_from_string(analysis);
  if (!method) {
    throw InputError(
        fmt::format("analysis \"{}\" is none of {}", analysis, analysis::all_method_names()));
  }
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  return analysis::analyze(parsed.model, {.method = *method}).to_json();
}

}  // namespace

void bind_analysis(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("analyze", &analyze, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "Bounds the response times of a takt/model document with the analysis of that name;\n"
             "`source` names it in messages. Returns a takt/bounds document. Raises InputError.");
}

}  // namespace takt::native
