#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "choices.hpp"
#include "takt/columns/event_tables.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/events/schema.hpp"
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
using fuzz::Choices;

/// Events of any types, with handles, times and names that often mean the same object or message.
class AnyEvents final : public events::EventStream {
 public:
  explicit AnyEvents(Choices choices) {
    inputs_.push_back({"fuzz", 0, "0"});
    for (std::int64_t process = 1; process <= 2; ++process) {
      for (std::int64_t thread = 0; thread < 2; ++thread) {
        threads_.thread(threads_.host("robot", "clock"), process, process * 10 + thread, "program");
      }
    }
    while (choices.any()) {
      add(choices);
    }
  }

  void rewind() { was_read_ = false; }

  bool read(events::Batch& batch) override {
    batch.clear();
    if (!std::exchange(was_read_, true)) {
      batch = batch_;
    }
    return !batch.events.empty();
  }
  Position position() const override { return {}; }
  std::map<std::string, std::uint64_t> counts() const override { return {}; }

 private:
  void add(Choices& choices) {
    events::Event event;
    event.type = static_cast<events::EventType>(choices.below(events::event_type_count));
    const std::size_t how = choices.below(256);
    event.thread = events::ThreadIndex(how % threads_.threads().size());
    event.cpu = static_cast<std::uint16_t>(how / 4 % 4);
    now_ = later(now_, how / 16, choices);
    event.time = Instant(std::chrono::nanoseconds(now_));
    const events::Schema& schema = events::schema(event.type);
    if (schema.has_payload) {
      event.payload = static_cast<std::uint32_t>(batch_.payloads.size());
      batch_.payloads.emplace_back();
    }
    for (const events::Field& field : schema.fields) {
      fill(event, field, choices);
    }
    batch_.events.push_back(event);
  }

  /// Clocks may say anything that decoders let through, but never go back.
  static std::int64_t later(std::int64_t time, std::size_t how, Choices& choices) {
    if (how == 15) {
      return std::max(time, bounded(Duration(choices.next<std::int64_t>())).count());
    }
    const auto step = static_cast<std::int64_t>(how) * 100'000;
    return std::min(time + step, longest_time.count());
  }

  /// The pieces of which mangled names of C++ are made.
  static std::string symbol(Choices& choices) {
    static const std::array<std::string, 20> pieces{
        "St4pairI", "S_",  "S0_", "S1_", "S2_", "T_", "T0_", "Dp", "I",  "J",
        "E",        "1fI", "i",   "N",   "1a",  "Ul", "E0_", "sZ", "sp", "K"};
    std::string made = "_Z1f";
    for (std::size_t count = choices.below(200); count != 0; --count) {
      made += pieces[choices.below(pieces.size())];
    }
    return made;
  }

  void fill(events::Event& event, const events::Field& field, Choices& choices) {
    static const std::array<std::string, 6> names{"", "/", "/topic", "node", "f()", "\xff"};
    switch (field.kind) {
      case events::FieldKind::text:
        if (const std::size_t name = choices.below(names.size() + 1); name < names.size()) {
          batch_.payloads.back().texts[field.position] = names[name];
        } else {
          batch_.payloads.back().texts[field.position] = symbol(choices);
        }
        break;
      case events::FieldKind::list:
        for (std::size_t count = choices.below(4); count != 0; --count) {
          batch_.payloads.back().lists[field.position].push_back(choices.below(8));
        }
        break;
      case events::FieldKind::gid:
        event.values[field.position] = choices.below(8);
        break;
      default: {
        const std::size_t value = choices.below(256);
        event.values[field.position] = value < 240   ? value % 8
                                       : value < 248 ? static_cast<std::uint64_t>(now_)
                                                     : choices.next<std::uint64_t>();
      }
    }
  }

  events::Batch batch_;
  std::int64_t now_ = 0;
  bool was_read_ = false;
};

/// The columns of the events have all of them.
void make_columns(AnyEvents& source, std::uint64_t events) {
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
  AnyEvents source(Choices(data, size));
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
