// How fast traces are read into columns and interpreted, and how fast others read the same trace:
// babeltrace2's C reader into nothing, and a loop over babeltrace2's Python events as
// tracetools_analysis has it. One run, on one processor, processor time, medians.
//
//   tracing_benchmark [EVENTS]           measures on a synthetic trace of so many events
//   tracing_benchmark --write DIR EVENTS writes the trace, and prints how many events it has

#include <fmt/format.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "synthetic_trace.hpp"
#include "takt/columns/event_tables.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/execution/interpreter.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int repetitions = 5;
constexpr std::uint64_t python_events = 100'000;  // a loop in Python needs some seconds for these

/// Makes a dictionary of each event, as tracetools_read does for tracetools_analysis.
constexpr const char* python_loop = R"(
import sys, bt2
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        event = message.event
        d = {"_name": event.name, "_timestamp": message.default_clock_snapshot.ns_from_origin}
        for part in (event.payload_field, event.common_context_field, event.packet.context_field):
            if part is not None:
                d.update({key: part[key] for key in part})
)";

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Processor time of this process with its threads, or of its children that have ended.
double processor_time(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "tracing_benchmark: {}\n", message);
  std::exit(1);
}

std::unique_ptr<takt::events::EventStream> open(const fs::path& trace) {
  const std::vector<fs::path> paths{trace};
  auto source = takt::events::open(paths);
  if (!source) {
    fail(source.error().message);
  }
  return std::move(*source);
}

void expect(std::uint64_t events, std::uint64_t found) {
  if (events != found) {
    fail(fmt::format("{} events were read, not {}", found, events));
  }
}

void read_columns(const fs::path& trace, std::uint64_t events) {
  const auto source = open(trace);
  takt::columns::EventTables tables(source->threads(), {}, 1 << 16);
  takt::events::Batch batch;
  std::uint64_t rows = 0;
  const auto count = [&rows](const auto& table) {
    rows += table ? static_cast<std::uint64_t>(table->column.length) : 0;
    return table.has_value();
  };
  while (source->read(batch)) {
    tables.add(batch);
    count(tables.take_full());
  }
  while (count(tables.take_rest())) {
  }
  expect(events, rows);
}

/// Processor time of the interpreter alone.
double interpret(const fs::path& trace, std::uint64_t events) {
  const auto source = open(trace);
  takt::execution::Interpreter interpreter(source->threads());
  takt::events::Batch batch;
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double spent = 0;
  std::uint64_t count = 0;
  while (source->read(batch)) {
    const double begin = now();
    interpreter.consume(batch);
    spent += now() - begin;
    count += batch.events.size();
  }
  interpreter.finish();
  expect(events, count);
  return spent;
}

double processor_time_of(int who, const std::function<void()>& work) {
  const double begin = processor_time(who);
  work();
  return processor_time(who) - begin;
}

void run(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    fail(fmt::format("failed: {}", command));
  }
}

void print(std::string_view what, std::uint64_t events, double time, double ours) {
  fmt::print("{:<58} {:>9.2f} {:>8}\n", what, 1e-6 * static_cast<double>(events) / time,
             ours == 0 ? std::string() : fmt::format("{:.1f}", ours));
}

void measure(const fs::path& scratch, std::uint64_t wanted) {
  const fs::path trace = scratch / "trace";
  const fs::path small = scratch / "small";
  const std::uint64_t events = takt::benchmark::write_synthetic_trace(trace, wanted);
  const std::uint64_t few = takt::benchmark::write_synthetic_trace(small, python_events);
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  sched_setaffinity(0, sizeof one, &one);

  std::vector<double> columns;
  std::vector<double> interpreted;
  std::vector<double> babeltrace;
  const std::string dummy = fmt::format("babeltrace2 -o dummy {}", trace.string());
  for (int i = 0; i < repetitions; ++i) {
    columns.push_back(processor_time_of(RUSAGE_SELF, [&] { read_columns(trace, events); }));
    interpreted.push_back(interpret(trace, events));
    babeltrace.push_back(processor_time_of(RUSAGE_CHILDREN, [&] { run(dummy); }));
  }
  const double ours = static_cast<double>(events) / median(columns);
  fmt::print("{} events, medians of {}, processor time on one core\n\n", events, repetitions);
  fmt::print("{:<58} {:>9} {:>8}\n", "", "million/s", "ours is");
  print("reading into columns", events, median(columns), 0);
  print("libbabeltrace2's C reader (babeltrace2 -o dummy)", events, median(babeltrace),
        ours * median(babeltrace) / static_cast<double>(events));
  const fs::path program = scratch / "loop.py";
  if (std::system("/usr/bin/python3 -c 'import bt2' 2>/dev/null") == 0) {
    FILE* const file = std::fopen(program.c_str(), "w");
    fmt::print(file, "{}", python_loop);
    std::fclose(file);
    const double python = processor_time_of(RUSAGE_CHILDREN, [&] {
      run(fmt::format("/usr/bin/python3 {} {}", program.string(), small.string()));
    });
    print("bt2 in Python, a dictionary for each event", few, python,
          ours * python / static_cast<double>(few));
  } else {
    fmt::print("bt2 in Python: not measured, the package python3-bt2 is not installed\n");
  }
  print("interpreting into the execution database", events, median(interpreted), 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "--write") {
    fmt::print("{}\n", takt::benchmark::write_synthetic_trace(arguments[1],
                                                              std::strtoull(argv[3], nullptr, 10)));
    return 0;
  }
  const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2'000'000;
  std::string scratch = (fs::temp_directory_path() / "takt-benchmark-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    fail("no temporary directory");
  }
  measure(scratch, events);
  fs::remove_all(scratch);
  return 0;
}
