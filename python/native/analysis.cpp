#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "analysis_request.hpp"
#include "native.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/analysis/explanation.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/model/validate.hpp"

namespace takt::native {

namespace {

std::string analyze(const std::string& text, const std::string& source, const std::string& analysis,
                    std::int64_t effort) {
  const AnalysisRequest request(text, source, analysis, effort);
  return analysis::analyze(request.model, request.options).to_json();
}

/// The index of the element of that id. Throws InputError if there is none.
template <typename Index, typename Elements>
Index find(const Elements& elements, const std::string& id, std::string_view what) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].id == id) return Index{i};
  }
  throw InputError(fmt::format("there is no {} \"{}\" in the model", what, id));
}

/// A model that is analysed again after each change. Keeps the GIL: one thread at a time.
class Analyzer {
 public:
  Analyzer(const std::string& text, const std::string& source, const std::string& analysis)
      : source_(source),
        analyzer_(begin(AnalysisRequest(text, source, analysis))),
        given_(analyzer_.model()) {}

  void set_budget(const std::string& executor, std::int64_t budget) {
    model::Model changed = analyzer_.model();
    const auto index = find<model::ExecutorIndex>(changed.executors, executor, "executor");
    auto* reservation =
        std::get_if<model::ReservationSupply>(&changed.executors[index.value()].supply);
    if (reservation == nullptr) {
      throw InputError(fmt::format("executor \"{}\" is not on a reservation", executor));
    }
    reservation->budget = Duration{budget};
    unwrap(model::validate(changed, source_));
    analyzer_.set_budget(index, reservation->budget);
  }

  void set_execution_time(const std::string& callback, const std::vector<std::int64_t>& curve) {
    model::Model changed = analyzer_.model();
    const auto index = find<model::CallbackIndex>(changed.callbacks, callback, "callback");
    auto& execution_time = changed.callbacks[index.value()].execution_time;
    execution_time.clear();
    for (const std::int64_t cost : curve) execution_time.emplace_back(cost);
    unwrap(model::validate(changed, source_));
    analyzer_.set_execution_time(index, std::move(execution_time));
  }

  void scale_execution_time(const std::string& callback, int percent) {
    if (percent < 0 || percent > most_percent) {
      throw InputError(fmt::format("{} % is not between 0 and {}", percent, most_percent));
    }
    const auto index = find<model::CallbackIndex>(given_.callbacks, callback, "callback");
    analyzer_.set_execution_time(index, curves::scaled(given_[index].execution_time, percent));
  }

  [[nodiscard]] std::string bounds() { return analyzer_.bounds().to_json(); }

 private:
  static analysis::Analyzer begin(AnalysisRequest request) {
    return analysis::Analyzer(std::move(request.model), request.options);
  }

  static constexpr int most_percent = 10'000;

  std::string source_;
  analysis::Analyzer analyzer_;
  model::Model given_;
};

std::string explain(const std::string& text, const std::string& source, const std::string& analysis,
                    const std::string& chain, std::int64_t effort) {
  const AnalysisRequest request(text, source, analysis, effort);
  return unwrap(analysis::explain(request.model, chain, request.options)).to_json();
}

}  // namespace

void bind_analysis(nanobind::module_& module) {
  using namespace nanobind::literals;
  nanobind::class_<Analyzer>(module, "Analyzer",
                             "A takt/model document that is analysed again after each change, as "
                             "far as the change reaches.")
      .def(nanobind::init<const std::string&, const std::string&, const std::string&>(), "text"_a,
           "source"_a, "analysis"_a)
      .def("set_budget", &Analyzer::set_budget, "executor"_a, "budget"_a,
           "Of an executor on a reservation, in ns. Raises InputError.")
      .def("set_execution_time", &Analyzer::set_execution_time, "callback"_a, "curve"_a,
           "ET(1), ET(2), ... in ns. Raises InputError.")
      .def("scale_execution_time", &Analyzer::scale_execution_time, "callback"_a, "percent"_a,
           "In percent of what the document says, 0 to 10000. Raises InputError.")
      .def("bounds", &Analyzer::bounds, "A takt/bounds document of the model with all changes.");
  module.attr("ANALYSES") = analysis::all_method_names();
  module.attr("EFFORT") = analysis::Options().effort;
  module.def("explain", &explain, "text"_a, "source"_a, "analysis"_a, "chain"_a,
             "effort"_a = analysis::Options().effort,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "What the bound of a chain of a takt/model document is made of. Returns the member\n"
             "`explanation` of a takt/bounds document. Raises InputError.");
  module.def(
      "analyze", &analyze, "text"_a, "source"_a, "analysis"_a,
      "effort"_a = analysis::Options().effort, nanobind::call_guard<nanobind::gil_scoped_release>(),
      "Bounds the response times of a takt/model document with the analysis of that name;\n"
      "`source` names it in messages. `effort`: the steps that the searches may take. Returns a\n"
      "takt/bounds document. Raises InputError.");
}

}  // namespace takt::native
