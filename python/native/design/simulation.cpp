#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "design.hpp"
#include "native.hpp"
#include "progress.hpp"
#include "takt/model/json.hpp"
#include "takt/simulation/document.hpp"
#include "takt/simulation/simulate.hpp"
#include "takt/simulation_trace/recorder.hpp"

namespace takt::native {

namespace {

std::string simulate(const std::string& text, const std::string& source,
                     const std::string& options_text, const std::string& recording,
                     const std::optional<PythonProgress>& progress) {
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  const simulation::Options options = unwrap(simulation::parse_options(options_text, "options"));
  const auto total = static_cast<std::uint64_t>(options.duration.count());
  ProgressGate gate(progress);
  std::unique_ptr<simulation_trace::Recorder> recorder;
  if (!recording.empty()) {
    auto made = simulation_trace::Recorder::create(parsed.model, options, recording);
    if (!made) throw InputError(source + ": " + made.error().message);
    recorder = std::move(*made);
  }
  simulation::Simulation simulated = unwrap(simulation::simulate(
      parsed.model, options,
      [&](Duration now) { gate(static_cast<std::uint64_t>(now.count()), total); }, recorder.get()));
  if (recorder) {
    unwrap(recorder->finish());
    std::ranges::copy(recorder->warnings(), std::back_inserter(simulated.warnings));
  }
  return simulation::to_json(parsed.model, options, simulated);
}

}  // namespace

void bind_simulation(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "simulate", &simulate, "text"_a, "source"_a, "options"_a, "recording"_a = "",
      "progress"_a = nanobind::none(), nanobind::call_guard<nanobind::gil_scoped_release>(),
      "Simulates a takt/model document; `source` names it in messages, `options` is a JSON\n"
      "object of takt/simulation/options.hpp's names, times in nanoseconds. `recording` is a\n"
      "folder for a recording of the run, none if empty. Returns a takt/simulation document.\n"
      "Raises InputError.");
}

}  // namespace takt::native
