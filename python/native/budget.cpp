#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis_request.hpp"
#include "native.hpp"
#include "takt/budget/document.hpp"
#include "takt/budget/search.hpp"
#include "takt/budget/sensitivity.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

std::pair<std::string, std::string> budget(const std::string& text, const std::string& source,
                                           const std::string& analysis, int margin,
                                           const std::vector<int>& cores, double capacity,
                                           std::optional<std::int64_t> period) {
  const auto& [model, analysis_options] = AnalysisRequest(text, source, analysis);
  budget::Options options;
  options.analysis = analysis_options;
  options.margin = margin;
  options.cores = {cores, capacity};
  if (period) options.period = Duration{*period};
  const auto plan = budget::search(model, options);
  if (!plan) throw InputError(source + ": " + plan.error().message);
  return {budget::to_json(model, options, *plan),
          model::to_json(budget::with_reservations(model, *plan))};
}

std::string sensitivity(const std::string& text, const std::string& source,
                        const std::string& analysis) {
  const AnalysisRequest request(text, source, analysis);
  return budget::sensitivity(request.model, request.options).to_json();
}

}  // namespace

void bind_budget(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "budget", &budget, "text"_a, "source"_a, "analysis"_a, "margin"_a, "cores"_a, "capacity"_a,
      "period"_a.none(), nanobind::call_guard<nanobind::gil_scoped_release>(),
      "The smallest reservations under which the chains of a takt/model document meet their\n"
      "goals with execution times longer by `margin` percent, on processors of the numbers\n"
      "`cores`, each of which grants `capacity`; `period` in ns, None: the model's. Returns\n"
      "a takt/budget document, and the model with the reservations. Raises InputError.");
  module.def("sensitivity", &sensitivity, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "How far a takt/model document is from missing a goal. Returns a takt/sensitivity "
             "document. Raises InputError.");
}

}  // namespace takt::native
