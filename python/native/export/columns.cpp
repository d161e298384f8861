#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "native.hpp"
#include "progress.hpp"
#include "takt/columns/event_tables.hpp"
#include "takt/events/schema.hpp"
#include "takt/execution/document.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/execution/summary.hpp"
#include "takt/perfetto/trace_writer.hpp"
#include "traces.hpp"

namespace nb = nanobind;

namespace takt::native {

namespace {

/// A structure of the Arrow C data interface on its way to another library, which takes it out of
/// the capsule; one that nobody took is released with it.
template <typename Structure>
nb::capsule capsule(std::unique_ptr<Structure> structure, const char* name) {
  return {structure.release(), name, [](void* pointer) noexcept {
            const std::unique_ptr<Structure> owner(static_cast<Structure*>(pointer));
            if (owner->release != nullptr) {
              owner->release(owner.get());
            }
          }};
}

/// Events of one type as a table that Arrow's libraries take over without copying it.
class EventTable {
 public:
  explicit EventTable(columns::Column column) : column_(std::move(column)) {}

  [[nodiscard]] const std::string& name() const { return column_.name; }
  [[nodiscard]] nb::capsule arrow_schema() const {
    auto schema = std::make_unique<ArrowSchema>();
    columns::export_schema(column_, *schema);
    return capsule(std::move(schema), "arrow_schema");
  }
  [[nodiscard]] nb::tuple arrow_array(const nb::object& /*requested_schema*/) const {
    auto array = std::make_unique<ArrowArray>();
    columns::export_array(column_, *array);
    return nb::make_tuple(arrow_schema(), capsule(std::move(array), "arrow_array"));
  }

 private:
  columns::Column column_;
};

std::vector<std::string> event_names() {
  std::vector<std::string> names;
  for (const events::Schema& schema : events::schemas()) {
    names.emplace_back(schema.name);
  }
  return names;
}

std::vector<events::EventType> event_types(const std::vector<std::string>& names) {
  std::vector<events::EventType> types;
  for (const std::string& name : names) {
    const auto type = events::event_type(name);
    if (!type) {
      throw InputError(fmt::format(
          "'{}' is no event that Takt knows; takt info --json lists those of a trace", name));
    }
    types.push_back(*type);
  }
  return types;
}

/// Whether events that Takt does not know are asked for.
bool has_foreign(const std::vector<std::string>& names) {
  const auto foreign = events::schema(events::EventType::foreign).name;
  return names.empty() || std::ranges::find(names, foreign) != names.end();
}

/// One pass over traces that hands out their events as tables.
class EventReader {
 public:
  EventReader(const std::vector<std::string>& paths, const std::vector<std::string>& names,
              std::size_t rows)
      : source_(open_traces(paths, has_foreign(names))),
        tables_(source_->threads(), event_types(names), rows),
        interpreter_(source_->threads()) {
    interpreter_.add(summarizer_);
  }

  /// The next table; none after the last.
  std::optional<EventTable> read(const std::optional<PythonProgress>& progress) {
    ProgressGate gate(progress);
    auto table = tables_.take_full();
    while (!table && !ended_) {
      ended_ = !execution::advance(*source_, interpreter_, batch_, pass_);
      if (!ended_) {
        tables_.add(batch_);
        table = tables_.take_full();
        const auto position = source_->position();
        gate(position.done, position.total);
      }
    }
    if (!table) {
      table = tables_.take_rest();
    }
    return table ? std::optional(EventTable(std::move(table->column))) : std::nullopt;
  }

  /// An empty table with the columns of an event.
  [[nodiscard]] EventTable empty(const std::string& name) const {
    return EventTable(tables_.empty(event_types({name}).front()));
  }

  /// After the last table: the takt/info document.
  [[nodiscard]] std::string info() const {
    return execution::to_json(*source_, interpreter_.database(), pass_, summarizer_.summary());
  }

 private:
  std::unique_ptr<events::EventStream> source_;
  columns::EventTables tables_;
  execution::Summarizer summarizer_;
  execution::Interpreter interpreter_;
  execution::Pass pass_;
  events::Batch batch_;
  bool ended_ = false;
};

std::string export_perfetto(const std::vector<std::string>& paths, const std::string& output,
                            const std::optional<PythonProgress>& progress) {
  const auto source = open_traces(paths);
  execution::Summarizer summarizer;
  perfetto::TraceWriter writer(output, *source);
  execution::Interpreter interpreter(source->threads());
  interpreter.add(summarizer);
  interpreter.add(writer);
  ProgressGate gate(progress);
  execution::Pass pass;
  events::Batch batch;
  while (execution::advance(*source, interpreter, batch, pass)) {
    writer.add(batch);
    const auto position = source->position();
    gate(position.done, position.total);
  }
  const execution::Database& database = interpreter.database();
  unwrap(writer.finish(database, execution::warnings(*source, database)));
  return execution::to_json(*source, database, pass, summarizer.summary());
}

}  // namespace

}  // namespace takt::native

NB_MODULE(takt_export, module) {
  using namespace nb::literals;
  using namespace takt::native;
  module.doc() = "Recordings as columns and as Perfetto traces.";
  nb::module_::import_("takt_native");
  const auto released = nb::call_guard<nb::gil_scoped_release>();
  module.def("event_names", &event_names, "Full names of the events that Takt knows.");
  nb::class_<EventTable>(module, "EventTable",
                         "Events of one type as columns, by Arrow's PyCapsule interface.")
      .def("name", &EventTable::name, "The event's full name.")
      .def("__arrow_c_schema__", &EventTable::arrow_schema)
      .def("__arrow_c_array__", &EventTable::arrow_array, "requested_schema"_a = nb::none());
  nb::class_<EventReader>(module, "EventReader",
                          "One pass over the traces at `paths` that hands out the events of these "
                          "names (none: all; \"foreign\":\nall that Takt does not know) as tables "
                          "of at least `rows` rows, "
                          "in bounded memory. Raises InputError.")
      .def(
          nb::init<const std::vector<std::string>&, const std::vector<std::string>&, std::size_t>(),
          "paths"_a, "names"_a, "rows"_a, released)
      .def("read", &EventReader::read, "progress"_a = nb::none(), released,
           "The next table of any event; None after the last.")
      .def("empty", &EventReader::empty, "name"_a, "A table of an event, without rows.")
      .def("info", &EventReader::info, released,
           "After the last table: what is in the traces, as a takt/info document.");
  module.def("export_perfetto", &export_perfetto, "paths"_a, "output"_a, "progress"_a = nb::none(),
             released,
             "Writes what the traces show as a Perfetto trace into the file `output`; returns the\n"
             "takt/info document. Raises InputError.");
}
