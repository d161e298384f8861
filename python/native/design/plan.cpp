#include "takt/plan/plan.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

#include "design.hpp"
#include "native.hpp"
#include "takt/model/json.hpp"
#include "takt/simulation/options.hpp"

namespace takt::native {

namespace {

std::string plan(const std::string& text, const std::string& source,
                 const std::string& options_text) {
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  const simulation::Options options = unwrap(simulation::parse_options(options_text, "options"));
  auto made = plan::make_plan(parsed.model, options.executor, options);
  if (!made) throw InputError(source + ": " + made.error().message);
  return plan::to_json(*made);
}

}  // namespace

void bind_plan(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def("plan", &plan, "text"_a, "source"_a, "options"_a,
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The takt/plan document of a takt/model document; `options` is a JSON object with\n"
             "names of simulate()'s that concern policies. Raises InputError.");
}

}  // namespace takt::native
