#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "progress.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/document.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/json.hpp"
#include "takt/viewer/document.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/scheduling.hpp"
#include "takt/viewer/storage.hpp"
#include "takt/viewer/stored_document.hpp"
#include "takt/viewer/work.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

/// Reading is this share of the work of making a document, as far as progress is concerned.
constexpr std::uint64_t reading_percent = 70;

using Keep = viewer::Recording::Keep;

/// A document, and what was measured of the model meanwhile.
struct Made {
  viewer::Document document;
  std::string measurement;
};

Made make(const std::vector<std::string>& paths, const std::string& model_text,
          const std::string& model_source, const std::optional<PythonProgress>& progress,
          const viewer::Storage& storage, viewer::Recording::Keep keep) {
  const auto parsed = unwrap(model::parse(model_text, model_source));
  const auto source = open_traces(paths);
  viewer::Recording recording(parsed.model, storage, keep);
  viewer::Scheduling scheduling(source->threads(), storage);
  flow::Measurer measurer(parsed.model,
                          [&](const flow::ChainInstance& instance) { recording.add(instance); });
  execution::Interpreter interpreter(source->threads());
  interpreter.add(measurer);
  interpreter.add(recording);
  ProgressGate gate(progress);
  execution::Pass pass;
  events::Batch batch;
  while (execution::advance(*source, interpreter, batch, pass)) {
    scheduling.add(batch);
    unwrap(recording.filled());
    unwrap(scheduling.filled());
    const auto position = source->position();
    gate(position.done * reading_percent, position.total * 100);
  }
  measurer.finish();
  unwrap(recording.finish());
  unwrap(scheduling.finish(pass.last));
  viewer::Work work([&](std::uint64_t done, std::uint64_t expected) {
    gate(reading_percent * expected + (100 - reading_percent) * done, 100 * expected);
  });
  auto document = unwrap(viewer::make_document(
      {parsed.model, *source, interpreter.database(), pass, recording, scheduling, measurer},
      storage, work));
  if (storage.on_disk()) {
    unwrap(viewer::complete_tables(storage, work));
  }
  return {std::move(document), flow::to_json(parsed.model, *source, interpreter.database(), pass,
                                             measurer.measurement())};
}

nb::tuple view(const std::vector<std::string>& paths, const std::string& model_text,
               const std::string& model_source, const std::optional<PythonProgress>& progress) {
  viewer::Document document;
  {
    const nb::gil_scoped_release released;
    document = make(paths, model_text, model_source, progress, {}, Keep::chains_that_fit).document;
  }
  nb::dict tables;
  for (const auto& [name, block] : document.tables) {
    tables[name.c_str()] = nb::bytes(block.data(), block.size());
  }
  return nb::make_tuple(nb::str(document.index.data(), document.index.size()), tables);
}

nb::tuple store(const std::vector<std::string>& paths, const std::string& model_text,
                const std::string& model_source, const std::string& folder, bool all_chains,
                const std::optional<PythonProgress>& progress) {
  Made made;
  {
    const nb::gil_scoped_release released;
    made = make(paths, model_text, model_source, progress, viewer::Storage(folder),
                all_chains ? Keep::all_chains : Keep::chains_that_fit);
  }
  return nb::make_tuple(nb::str(made.document.index.data(), made.document.index.size()),
                        nb::str(made.measurement.data(), made.measurement.size()));
}

}  // namespace

void bind_viewer(nb::module_& module) {
  using namespace nb::literals;
  module.def("view", &view, "paths"_a, "model_text"_a, "source"_a, "progress"_a = nb::none(),
             "What happened in the traces, for the viewer: the index of a takt/viewer document\n"
             "(JSON, without verdicts) and its tables by name. `source` names the model in\n"
             "messages. Raises InputError.");
  module.def("store_view", &store, "paths"_a, "model_text"_a, "source"_a, "folder"_a,
             "all_chains"_a = false, "progress"_a = nb::none(),
             "The same for traces of any size: returns the index and a takt/measurement document\n"
             "of the same pass, and writes the tables into files of the folder, which StoredView\n"
             "reads. Raises InputError.");

  module.def(
      "read_column",
      [](const std::string& folder, const std::string& table, const std::string& column) {
        const std::vector<std::int64_t> values = unwrap(viewer::read_column(folder, table, column));
        return nb::bytes(values.data(), values.size() * sizeof values[0]);
      },
      "folder"_a, "table"_a, "column"_a,
      "A column that store_view() wrote, as signed 64-bit numbers. Raises InputError.");

  using Document = viewer::StoredDocument;
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  nb::class_<Document>(module, "StoredView",
                       "Answers the viewer's questions from the folder that store_view() wrote,\n"
                       "each as JSON, but tiles as bytes. May be shared by threads.")
      .def_static(
          "open", [](const std::string& folder) { return unwrap(Document::open(folder)); },
          "folder"_a, "Raises InputError if the folder does not hold a document.")
      .def(
          "tile",
          [](const Document& document, int level, std::int64_t number) {
            std::string bytes;
            {
              const nb::gil_scoped_release without;
              bytes = document.tile(level, number);
            }
            return nb::bytes(bytes.data(), bytes.size());
          },
          "level"_a, "number"_a)
      .def("messages", &Document::messages, "from_"_a, "to"_a, "limit"_a, released)
      .def("span", &Document::span, "number"_a, released)
      .def("flow", &Document::flow, "span"_a, released)
      .def("histogram", &Document::histogram, "chain"_a, "bins"_a, released)
      .def(
          "instances",
          [](const Document& document, std::int64_t chain, std::int64_t from, std::int64_t to,
             bool incomplete, std::size_t limit) {
            return document.instances(chain, {from, to, incomplete, limit});
          },
          "chain"_a, "from_"_a, "to"_a, "incomplete"_a, "limit"_a, released)
      .def("instance", &Document::instance, "number"_a, released)
      .def("area", &Document::area, "from_"_a, "to"_a, "tracks"_a, released)
      .def("neighbour", &Document::neighbour, "callback"_a, "time"_a, "direction"_a, released)
      .def("series", &Document::series, "callback"_a, "bins"_a, released);
}

}  // namespace takt::native
