#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "progress.hpp"
#include "takt/execution/document.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/summary.hpp"
#include "takt/flow/document.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/json.hpp"
#include "takt/synthesis/synthesizer.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

std::string info(const std::vector<std::string>& paths,
                 const std::optional<PythonProgress>& progress) {
  const auto source = open_traces(paths);
  execution::Summarizer summarizer;
  execution::Interpreter interpreter(source->threads());
  interpreter.add(summarizer);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  return execution::to_json(*source, interpreter.database(), pass, summarizer.summary());
}

synthesis::Options parse_options(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw InputError("options: not a JSON object");
  }
  synthesis::Options options;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      throw InputError(fmt::format("options.{}: must be a string", key));
    }
    const auto string = value.get<std::string>();
    if (key == "name") {
      options.name = string;
    } else if (key == "chains_from") {
      options.chains_from = unwrap(model::parse(string, "chains_from")).model;
    } else if (key == "supplies_from") {
      options.supplies_from = unwrap(model::parse(string, "supplies_from")).model;
    } else {
      throw InputError(
          fmt::format("options.{}: not known; one of name, chains_from, supplies_from", key));
    }
  }
  return options;
}

std::string synthesize(const std::vector<std::string>& paths, const std::string& options_text,
                       const std::optional<PythonProgress>& progress) {
  const synthesis::Options options = parse_options(options_text);
  const auto source = open_traces(paths);
  synthesis::Synthesizer synthesizer;
  execution::Interpreter interpreter(source->threads());
  interpreter.add(synthesizer);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  return model::to_json(unwrap(synthesizer.model(*source, interpreter.database(), pass, options)));
}

std::string measure(const std::vector<std::string>& paths, const std::string& model_text,
                    const std::string& model_source,
                    const std::optional<PythonProgress>& progress) {
  const auto parsed = unwrap(model::parse(model_text, model_source));
  const auto source = open_traces(paths);
  flow::Measurer measurer(parsed.model);
  execution::Interpreter interpreter(source->threads());
  interpreter.add(measurer);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  return flow::to_json(parsed.model, *source, interpreter.database(), pass, measurer.measurement());
}

}  // namespace

void bind_trace(nb::module_& module) {
  using namespace nb::literals;
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  module.def(
      "info", &info, "paths"_a, "progress"_a = nb::none(), released,
      "What is in the traces at `paths`, as a takt/info document. `progress(done, total)` is\n"
      "told how far reading has come; total 0: not known. Raises InputError.");
  module.def("synthesize", &synthesize, "paths"_a, "options"_a = "{}", "progress"_a = nb::none(),
             released,
             "The timing model of what the traces show, as a takt/model document. Options (JSON):\n"
             "name; chains_from and supplies_from, texts of models whose chains and supplies are\n"
             "taken over. Raises InputError.");
  module.def("measure", &measure, "paths"_a, "model_text"_a, "source"_a, "progress"_a = nb::none(),
             released,
             "What the traces show of a model's callbacks and chains, as a takt/measurement\n"
             "document; `source` names the model in messages. Raises InputError.");
}

}  // namespace takt::native
