#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "declarations.hpp"
#include "native.hpp"
#include "progress.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/flow/flow_document.hpp"
#include "takt/flow/flows.hpp"
#include "takt/flow/stages.hpp"
#include "takt/model/json.hpp"
#include "traces.hpp"

namespace takt::native {

namespace {

/// The options, and the model that they point to.
struct FlowRequest {
  takt::flow::FlowOptions options;
  std::optional<model::Model> model;
};

FlowRequest parse_request(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    throw InputError("options: not a JSON object");
  }
  FlowRequest request;
  takt::flow::FlowOptions& options = request.options;
  for (const auto& [key, value] : json.items()) {
    if (key == "from" && value.is_string()) {
      options.from = value.get<std::string>();
    } else if (key == "to" && value.is_string()) {
      options.to = value.get<std::string>();
    } else if (key == "instances" && value.is_boolean()) {
      options.instances = value.get<bool>();
    } else if (key == "parts" && value.is_boolean()) {
      options.parts = value.get<bool>();
    } else if (key == "infer" && value.is_boolean()) {
      options.inference =
          value.get<bool>() ? takt::flow::Inference::on : takt::flow::Inference::off;
    } else if (key == "asked" && value.is_number_unsigned()) {
      options.asked = value.get<std::uint64_t>();
    } else if (key == "model" && value.is_string()) {
      request.model = unwrap(model::parse(value.get<std::string>(), "options.model")).model;
    } else if (key == "links") {
      options.links = declarations_in(value);
    } else if (key == "joins" && value.is_boolean()) {
      options.joins_of_model = value.get<bool>();
    } else {
      throw InputError(fmt::format(
          "options.{}: not known, or not of its type; from, to, model: strings; instances, parts, "
          "infer, joins: booleans; asked: a number; links: text and source",
          key));
    }
  }
  return request;
}

std::string flow(const std::vector<std::string>& paths, const std::string& options,
                 const std::optional<PythonProgress>& progress) {
  FlowRequest request = parse_request(options);
  request.options.model = request.model ? &*request.model : nullptr;
  const auto source = open_traces(paths);
  takt::flow::FlowTracker tracker(request.options);
  execution::Interpreter interpreter(source->threads());
  interpreter.add(tracker);
  ProgressGate gate(progress);
  const auto pass = execution::run(*source, interpreter, std::ref(gate));
  unwrap(tracker.finish(interpreter.database()));
  return takt::flow::to_json(*source, interpreter.database(), pass, tracker);
}

}  // namespace

void bind_flow(nanobind::module_& module) {
  using namespace nanobind::literals;
  nanobind::list stages;
  for (const takt::flow::StageWords& stage : takt::flow::stage_words) {
    stages.append(nanobind::make_tuple(stage.name, stage.kind, stage.words));
  }
  module.attr("STAGES") = nanobind::tuple(stages);
  module.def(
      "time_of_day",
      [](std::int64_t since_epoch) { return execution::time_of_day(Duration(since_epoch)); },
      "since_epoch"_a,
      "The date and time of day, so many nanoseconds after 1970, as documents have it. None if a\n"
      "recording's clock does not count from then.");
  module.def("flow", &flow, "paths"_a, "options"_a = "{}", "progress"_a = nanobind::none(),
             nanobind::call_guard<nanobind::gil_scoped_release>(),
             "The flows of messages in the traces at `paths`, as a takt/flow document. Options\n"
             "(JSON): from, to, names of where flows begin and end; instances, whether to list\n"
             "them; parts, whether the worst ones are told in parts, as they are by default;\n"
             "asked, the number of one whose story is told; infer, whether to believe what the\n"
             "nodes' behaviour suggests where they declare no links; model, the text of a model\n"
             "whose callbacks the document names; joins, whether its joins count for links, which\n"
             "they do by default. Raises InputError.");
}

}  // namespace takt::native
