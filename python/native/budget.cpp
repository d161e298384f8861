#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis_request.hpp"
#include "native.hpp"
#include "takt/budget/best_period.hpp"
#include "takt/budget/change.hpp"
#include "takt/budget/document.hpp"
#include "takt/budget/remedy.hpp"
#include "takt/budget/search.hpp"
#include "takt/budget/sensitivity.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

namespace {

std::pair<std::string, std::string> budget(const std::string& text, const std::string& source,
                                           const std::string& analysis, int margin,
                                           const std::vector<int>& cores, double capacity,
                                           std::optional<std::int64_t> period, bool best_period) {
  const auto& [model, analysis_options] = AnalysisRequest(text, source, analysis);
  budget::Options options;
  options.analysis = analysis_options;
  options.margin = margin;
  options.cores = {cores, capacity};
  if (period) options.period = Duration{*period};
  const auto plan = best_period ? budget::search_with_best_period(model, options)
                                : budget::search(model, options);
  if (!plan) throw InputError(source + ": " + plan.error().message);
  return {budget::to_json(model, options, *plan),
          model::to_json(budget::with_reservations(model, *plan))};
}

std::string sensitivity(const std::string& text, const std::string& source,
                        const std::string& analysis) {
  const AnalysisRequest request(text, source, analysis);
  return budget::sensitivity(request.model, request.options).to_json();
}

/// The changes of `--what-if` text, made to the model.
std::string change(const std::string& text, const std::string& source, const std::string& changes) {
  AnalysisRequest request(text, source, "combined");
  const auto parsed = budget::parse_changes(changes, request.model);
  if (!parsed) throw InputError("--what-if: " + parsed.error().message);
  for (const budget::Change& each : *parsed) {
    if (const auto applied = budget::apply(each, request.model); !applied) {
      throw InputError("--what-if: " + applied.error().message);
    }
  }
  return model::to_json(request.model);
}

std::optional<std::pair<std::string, std::int64_t>> remedy(const std::string& text,
                                                           const std::string& source,
                                                           const std::string& analysis,
                                                           const std::string& chain) {
  const AnalysisRequest request(text, source, analysis);
  const auto& chains = request.model.chains;
  const auto found = std::ranges::find(chains, chain, &model::Chain::id);
  if (found == chains.end()) {
    throw InputError(source + ": there is no chain \"" + chain + "\"");
  }
  const auto cheapest = budget::cheapest_remedy(
      request.model, static_cast<std::size_t>(found - chains.begin()), request.options);
  if (!cheapest) return std::nullopt;
  return std::pair{budget::to_string(cheapest->change, request.model), cheapest->bound.count()};
}

}  // namespace

void bind_budget(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "budget", &budget, "text"_a, "source"_a, "analysis"_a, "margin"_a, "cores"_a, "capacity"_a,
      "period"_a.none(), "best_period"_a, nanobind::call_guard<nanobind::gil_scoped_release>(),
      "The smallest reservations under which the chains of a takt/model document meet their\n"
      "goals with execution times longer by `margin` percent, on processors of the numbers\n"
      "`cores`, each of which grants `capacity`; `period` in ns, None: the model's; or\n"
      "the best period. Returns a takt/budget document, and the model with the reservations.\n"
      "Raises InputError.");
  module.def("sensitivity", &sensitivity, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "How far a takt/model document is from missing a goal. Returns a takt/sensitivity "
             "document. Raises InputError.");
  module.def("change", &change, "text"_a, "source"_a, "changes"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "A takt/model document with changes like \"executor=edf, budget(e1)=3ms\" made to "
             "it. Raises InputError.");
  module.def("remedy", &remedy, "text"_a, "source"_a, "analysis"_a, "chain"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The cheapest single change, as change() takes it, with which a chain of a takt/model "
             "document meets its goal, and the chain's bound with it. None: there is none. Raises "
             "InputError.");
}

}  // namespace takt::native
