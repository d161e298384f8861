#include <cstddef>
#include <cstdint>

#include "any_robot.hpp"
#include "choices.hpp"
#include "takt/columns/event_tables.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/execution/document.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/summary.hpp"
#include "takt/flow/flow_document.hpp"
#include "takt/flow/flows.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/json.hpp"
#include "takt/perfetto/trace_writer.hpp"
#include "takt/replay/compare.hpp"
#include "takt/replay/recording.hpp"
#include "takt/synthesis/synthesizer.hpp"
#include "takt/viewer/document.hpp"
#include "takt/viewer/recording.hpp"
#include "takt/viewer/scheduling.hpp"

namespace {

using namespace takt;

/// The columns of the events have all of them.
void make_columns(events::EventStream& source, std::uint64_t events) {
  columns::EventTables tables(source.threads(), {}, 16);
  events::Batch batch;
  std::int64_t rows = 0;
  while (source.read(batch)) {
    tables.add(batch);
    while (const auto table = tables.take_full()) {
      rows += table->column.length;
    }
  }
  while (const auto table = tables.take_rest()) {
    rows += table->column.length;
  }
  fuzz::require(static_cast<std::uint64_t>(rows) == events);
}

/// Messages are followed through the events, in a window that holds few of them.
void follow(test::Scenario& source, const model::Model& model) {
  source.rewind();
  flow::FlowTracker tracker(
      {.from = {}, .to = {}, .instances = true, .asked = 0, .model = &model, .window = 64});
  execution::Interpreter interpreter(source.threads());
  interpreter.add(tracker);
  const auto pass = execution::run(source, interpreter, {});
  fuzz::require(tracker.finish(interpreter.database()).has_value());
  fuzz::require(!flow::to_json(source, interpreter.database(), pass, tracker).empty());
}

/// The model is measured in the events, replays them and shows them.
void use(test::Scenario& source, const model::Model& model) {
  source.rewind();
  execution::Interpreter interpreter(source.threads());
  const auto storage = viewer::Storage::in_memory(64);
  viewer::Recording shown(model, storage, viewer::Recording::Keep::all_chains);
  viewer::Scheduling scheduling(source.threads(), storage);
  flow::Measurer measurer(model, [&](const flow::ChainInstance& instance) { shown.add(instance); });
  replay::Recording recording(model);
  interpreter.add(measurer);
  interpreter.add(shown);
  interpreter.add(recording);
  events::Batch batch;
  execution::Pass pass;
  while (execution::advance(source, interpreter, batch, pass)) {
    scheduling.add(batch);
  }
  measurer.finish();
  fuzz::require(shown.finish() && scheduling.finish(pass.last));
  viewer::Work work;
  const viewer::Recorded recorded{model,      source,  interpreter.database(), pass, shown,
                                  scheduling, measurer};
  fuzz::require(viewer::make_document(recorded, storage, work).has_value());
  static_cast<void>(replay::compare(model, interpreter.database().objects(), recording));
  fuzz::require(measurer.measurement().callbacks.size() == model.callbacks.size());
}

}  // namespace

/// Any events are interpreted, written as columns and for Perfetto, and followed. A model that is
/// made of them is valid, can be measured in them, replays them and shows them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::AnyRobot robot(fuzz::Choices(data, size));
  test::Scenario& source = robot.events();
  execution::Summarizer summarizer;
  synthesis::Synthesizer synthesizer;
  execution::Interpreter interpreter(source.threads());
  interpreter.add(summarizer);
  interpreter.add(synthesizer);
  perfetto::TraceWriter writer("/dev/null", source);
  interpreter.add(writer);
  events::Batch batch;
  source.read(batch);
  writer.add(batch);
  source.rewind();
  const auto pass = execution::run(source, interpreter, {});
  fuzz::require(writer.finish(interpreter.database(), {}).has_value());
  for (const execution::Callback& callback : interpreter.database().objects().callbacks) {
    constexpr std::size_t longest = 1 << 20;
    fuzz::require(execution::display_name(interpreter.database().objects(), callback).size() <
                  longest);
  }
  source.rewind();
  make_columns(source, pass.events);
  static_cast<void>(execution::to_json(source, interpreter.database(), pass, summarizer.summary()));
  if (const auto model = synthesizer.model(source, interpreter.database(), pass, {})) {
    fuzz::require(model::parse(model::to_json(*model), "synthesised").has_value());
    follow(source, *model);
    use(source, *model);
  }
  return 0;
}
