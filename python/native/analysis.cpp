#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "native.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/sensitivity.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

/// The model and the options that the arguments of all functions below describe.
struct Request {
  Request(const std::string& text, const std::string& source, const std::string& analysis) {
    const auto method = analysis::method_from_string(analysis);
    if (!method) {
      throw InputError(
          fmt::format("analysis \"{}\" is none of {}", analysis, analysis::all_method_names()));
    }
    options.method = *method;
    model = unwrap(model::parse(text, source)).model;
  }

  model::Model model;
  analysis::Options options;
};

std::string analyze(const std::string& text, const std::string& source,
                    const std::string& analysis) {
  const Request request(text, source, analysis);
  return analysis::analyze(request.model, request.options).to_json();
}

std::string sensitivity(const std::string& text, const std::string& source,
                        const std::string& analysis) {
  const Request request(text, source, analysis);
  return analysis::sensitivity(request.model, request.options).to_json();
}

}  // namespace

void bind_analysis(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("sensitivity", &sensitivity, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "How far a takt/model document is from missing a goal. Returns a takt/sensitivity "
             "document. Raises InputError.");
  module.def("analyze", &analyze, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "Bounds the response times of a takt/model document with the analysis of that name;\n"
             "`source` names it in messages. Returns a takt/bounds document. Raises InputError.");
}

}  // namespace takt::native
