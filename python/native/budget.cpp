#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis_request.hpp"
#include "native.hpp"
#include "takt/budget/admission.hpp"
#include "takt/budget/advice.hpp"
#include "takt/budget/best_period.hpp"
#include "takt/budget/change.hpp"
#include "takt/budget/document.hpp"
#include "takt/budget/own_executor.hpp"
#include "takt/budget/priorities.hpp"
#include "takt/budget/search.hpp"
#include "takt/budget/sensitivity.hpp"
#include "takt/linux/admission.hpp"
#include "takt/model/json.hpp"
#include "takt/model/prompt_delay.hpp"

namespace takt::native {

namespace {

std::pair<std::string, std::string> budget(const std::string& text, const std::string& source,
                                           const std::string& analysis, int margin,
                                           const std::vector<int>& cores, double capacity,
                                           std::optional<std::int64_t> period, bool best_period,
                                           std::optional<std::int64_t> effort, bool leave_core) {
  const auto& [model, analysis_options] = AnalysisRequest(text, source, analysis);
  budget::Options options;
  options.analysis = analysis_options;
  options.effort = effort.value_or(budget::effort_per_callback *
                                   static_cast<std::int64_t>(model.callbacks.size()));
  options.margin = margin;
  options.cores = {cores, capacity};
  if (leave_core) options.cores.pinnable = budget::cores_to_keep(cores);
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
  const auto changed = budget::with_changes(changes, unwrap(model::parse(text, source)).model);
  if (!changed) throw InputError("--what-if: " + changed.error().message);
  return model::to_json(*changed);
}

std::string advise(const std::string& text, const std::string& source, const std::string& analysis,
                   const std::vector<int>& cores, double capacity, std::int64_t effort) {
  const AnalysisRequest request(text, source, analysis);
  budget::Options options;
  options.analysis = request.options;
  options.cores = {cores, capacity};
  options.effort = effort;
  return budget::to_json(request.model, budget::advise(request.model, options));
}

std::string own_executors(const std::string& text, const std::string& source,
                          const std::string& chain, const std::string& analysis) {
  const AnalysisRequest request(text, source, analysis);
  const auto& chains = request.model.chains;
  const auto found = std::ranges::find(chains, chain, &model::Chain::id);
  if (found == chains.end()) throw InputError(source + ": has no chain " + chain);
  const auto index = static_cast<std::size_t>(found - chains.begin());
  return budget::to_json(request.model,
                         budget::own_executors(request.model, index, request.options));
}

/// The assignments of all rules, and the model of the one with that name; empty: of the best.
std::pair<std::string, std::string> assign_priorities(const std::string& text,
                                                      const std::string& source,
                                                      const std::string& analysis,
                                                      const std::string& rule) {
  const AnalysisRequest request(text, source, analysis);
  const auto& chains = request.model.chains;
  if (std::ranges::none_of(chains, [](const auto& chain) { return chain.goal.has_value(); })) {
    throw InputError(source + ": no chain has a goal for priorities to keep; give one by --goals");
  }
  const auto effort =
      budget::effort_per_callback * static_cast<std::int64_t>(request.model.callbacks.size());
  const auto found = unwrap(budget::assign_priorities(request.model, request.options, effort));
  const auto named = std::ranges::find_if(
      found, [&](const auto& assignment) { return to_string(assignment.rule) == rule; });
  const auto& chosen = named != found.end() ? *named : budget::best(found);
  return {budget::to_json(found), model::to_json(chosen.model)};
}

}  // namespace

void bind_budget(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.attr("EFFORT_PER_CALLBACK") = budget::effort_per_callback;
  module.def(
      "budget", &budget, "text"_a, "source"_a, "analysis"_a, "margin"_a, "cores"_a, "capacity"_a,
      "period"_a.none(), "best_period"_a, "effort"_a.none(), "leave_core"_a = false,
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "The smallest reservations under which the chains of a takt/model document meet their\n"
      "goals with execution times longer by `margin` percent, on processors of the numbers\n"
      "`cores`, each of which grants `capacity`; `period` in ns, None: the model's; or\n"
      "the best period. The search ends with what it has after about `effort` steps; None:\n"
      "EFFORT_PER_CALLBACK for each callback. `leave_core`: none is pinned to the first core.\n"
      "Returns a takt/budget document, and the model with the reservations.\n"
      "Raises InputError.");
  module.def("sensitivity", &sensitivity, "text"_a, "source"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "How far a takt/model document is from missing a goal. Returns a takt/sensitivity "
             "document. Raises InputError.");
  module.def("change", &change, "text"_a, "source"_a, "changes"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "A takt/model document with changes like \"executor=edf, budget(e1)=3ms\" made to "
             "it. Raises InputError.");
  module.def(
      "deadline_share", [] { return unwrap(linux_os::deadline_share()); },
      "The share of each processor up to which this kernel admits reservations. Raises "
      "InputError.");
  module.def(
      "serves",
      [](const std::string& text, const std::string& source, const std::vector<int>& cores,
         double capacity) {
        return budget::admit(unwrap(model::parse(text, source)).model, {}, {cores, capacity});
      },
      "text"_a, "source"_a, "cores"_a, "capacity"_a,
      "Whether these cores serve the reservations of a takt/model document where they are. Raises\n"
      "InputError.");
  module.def(
      "advise", &advise, "text"_a, "source"_a, "analysis"_a, "cores"_a, "capacity"_a, "effort"_a,
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "What would guarantee the missed goals of a takt/model document on these cores\n"
      "(takt/budget/advice.hpp), found in about `effort` steps. Returns a JSON object with\n"
      "`changes` as change() takes them, `wishes` (how many of the first cannot be made at once,\n"
      "where reservations are proposed), `reservations` (whether those of budget() for the model\n"
      "with the changes are the proposal), and `remedies`, each with `chain`, `by`, `changes` (how "
      "many) and `bound`.\n"
      "Raises InputError.");
  module.def(
      "assign_priorities", &assign_priorities, "text"_a, "source"_a, "analysis"_a, "rule"_a,
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "Fixed priorities for a takt/model document's callbacks (takt/budget/priorities.hpp).\n"
      "Returns a JSON list with `rule`, `guaranteed` and `bounds` of each assignment, and "
      "the model\n"
      "with the priorities of `rule`, or of the one that guarantees the most chains. Raises "
      "InputError.");
  module.def("own_executors", &own_executors, "text"_a, "source"_a, "chain"_a, "analysis"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The executors of their own for one callback that lower the bound of a chain of a "
             "takt/model\n"
             "document, the lowest first: a JSON list of objects with `change`, as change() takes "
             "it, and\n"
             "`bound`. Raises InputError.");
  module.attr("PROMPT") = std::chrono::nanoseconds(model::prompt_delay).count();
}

}  // namespace takt::native
