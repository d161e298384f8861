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
#include "takt/flow/measurement.hpp"
#include "takt/model/json.hpp"
#include "takt/perfetto/trace_writer.hpp"
#include "takt/replay/compare.hpp"
#include "takt/replay/recording.hpp"
#include "takt/synthesis/synthesizer.hpp"

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

}  // namespace

/// Any events are interpreted and written as columns and for Perfetto. A model that is made of them
/// is valid, can be measured in them and replays them.
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
  const auto model = synthesizer.model(source, interpreter.database(), pass, {});
  if (!model) {
    return 0;
  }
  fuzz::require(model::parse(model::to_json(*model), "synthesised").has_value());
  source.rewind();
  flow::Measurer measurer(*model);
  execution::Interpreter again(source.threads());
  again.add(measurer);
  replay::Recording recording(*model);
  again.add(recording);
  execution::run(source, again, {});
  measurer.finish();
  static_cast<void>(replay::compare(*model, again.database().objects(), recording));
  fuzz::require(measurer.measurement().callbacks.size() == model->callbacks.size());
  return 0;
}
