#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "design.hpp"
#include "native.hpp"
#include "progress.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/json.hpp"
#include "takt/replay/compare.hpp"
#include "takt/replay/document.hpp"
#include "takt/replay/recording.hpp"
#include "traces.hpp"

namespace takt::native {

namespace {

std::string replay(const std::vector<std::string>& paths, const std::string& text,
                   const std::string& source, const std::optional<PythonProgress>& progress) {
  const model::ParsedModel parsed = unwrap(model::parse(text, source));
  const auto traces = open_traces(paths);
  takt::replay::Recording recording(parsed.model);
  execution::Interpreter interpreter(traces->threads());
  interpreter.add(recording);
  ProgressGate gate(progress);
  const auto pass = execution::run(*traces, interpreter, std::ref(gate));
  const auto compared =
      unwrap(takt::replay::compare(parsed.model, interpreter.database().objects(), recording));
  return takt::replay::to_json(parsed.model, *traces, interpreter.database(), pass, recording,
                               compared);
}

}  // namespace

void bind_replay(nanobind::module_& module) {
  using namespace nanobind::literals;
  module.def(
      "replay", &replay, "paths"_a, "text"_a, "source"_a, "progress"_a = nanobind::none(),
      nanobind::call_guard<nanobind::gil_scoped_release>(),
      "Simulates what the model's executors were told in the traces, and compares the order\n"
      "of callbacks. Returns a takt/replay document. Raises InputError.");
}

}  // namespace takt::native
