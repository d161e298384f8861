#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "declarations.hpp"
#include "native.hpp"
#include "progress.hpp"
#include "takt/events/archived_files.hpp"
#include "takt/execution/active_phase.hpp"
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

std::string active_phase(const std::vector<std::string>& paths,
                         const std::optional<PythonProgress>& progress) {
  const auto source = open_traces(paths, true);
  execution::ActivePhase active;
  execution::Interpreter interpreter(source->threads());
  interpreter.add(active);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  return active.to_json(*source, interpreter.database(), pass);
}

std::vector<nb::bytes> archived_files(const std::string& path, const std::string& name,
                                      std::size_t depth, std::size_t most, std::size_t size) {
  std::vector<nb::bytes> contents;
  for (const std::string& content :
       events::archived_files(path, name, depth, most, size, check_signals)) {
    contents.emplace_back(content.data(), content.size());
  }
  return contents;
}

void unpack(const std::string& path, const std::string& directory) {
  unwrap(
      events::unpack_archive(path, directory, events::OpenOptions().unpack_limit, check_signals));
}

struct ModelOptions {
  synthesis::Options model;
  synthesis::Observing observing;
};

/// Reads the members of the object, which are whole numbers.
synthesis::Aging parse_aging(const nlohmann::json& json) {
  synthesis::Aging aging;
  const std::map<std::string, std::int64_t*> fields{{"period", &aging.period},
                                                    {"weight", &aging.weight},
                                                    {"threshold", &aging.threshold},
                                                    {"margin", &aging.margin}};
  if (!json.is_object()) throw InputError("options.aging: must be an object");
  for (const auto& [key, value] : json.items()) {
    const auto field = fields.find(key);
    if (field == fields.end() || !value.is_number_integer()) {
      throw InputError(
          fmt::format("options.aging.{}: must be a whole number of period, weight, "
                      "threshold, margin",
                      key));
    }
    *field->second = value.get<std::int64_t>();
  }
  if (const auto wrong = synthesis::check(aging); !wrong) {
    throw InputError("options.aging: " + wrong.error().message);
  }
  return aging;
}

ModelOptions parse_options(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw InputError("options: not a JSON object");
  }
  ModelOptions options;
  const auto string = [](const std::string& key, const nlohmann::json& value) {
    if (!value.is_string()) throw InputError(fmt::format("options.{}: must be a string", key));
    return value.get<std::string>();
  };
  for (const auto& [key, value] : json.items()) {
    if (key == "name") {
      options.model.name = string(key, value);
    } else if (key == "chains_from") {
      options.model.chains_from = unwrap(model::parse(string(key, value), key)).model;
    } else if (key == "supplies_from") {
      options.model.supplies_from = unwrap(model::parse(string(key, value), key)).model;
    } else if (key == "phases") {
      if (!value.is_boolean()) throw InputError("options.phases: must be true or false");
      options.observing.phases = value.get<bool>();
    } else if (key == "timer_phases") {
      if (!value.is_boolean()) throw InputError("options.timer_phases: must be true or false");
      options.observing.timer_phases = value.get<bool>();
    } else if (key == "links") {
      options.model.links = declarations_in(value);
    } else if (key == "aging") {
      options.observing.aging = parse_aging(value);
    } else {
      throw InputError(fmt::format(
          "options.{}: not known; one of name, chains_from, supplies_from, phases, timer_phases, "
          "aging, links",
          key));
    }
  }
  return options;
}

std::string synthesize(const std::vector<std::string>& paths, const std::string& options_text,
                       const std::optional<PythonProgress>& progress) {
  const ModelOptions options = parse_options(options_text);
  const auto source = open_traces(paths);
  synthesis::Synthesizer synthesizer(options.observing);
  execution::Interpreter interpreter(source->threads());
  interpreter.add(synthesizer);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  return model::to_json(
      unwrap(synthesizer.model(*source, interpreter.database(), pass, options.model)));
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
  module.def("archived_files", &archived_files, "path"_a, "name"_a, "depth"_a, "most"_a, "size"_a,
             "The contents of the files of this name in an archive, at most `depth` folders deep,\n"
             "`most` in number and of `size` bytes; what cannot be read is not there.");
  module.def("unpack", &unpack, "path"_a, "directory"_a,
             "Unpacks an archive of recordings into an existing folder. Raises InputError.");
  module.def("active_phase", &active_phase, "paths"_a, "progress"_a = nb::none(), released,
             "Allocations and page faults after start-up, as a takt/active_phase document. Raises\n"
             "InputError.");
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
