// How long the flows of a large trace take, and those of a single message once it is loaded.
//
//   flow_benchmark [EVENTS]
//
// Writes a synthetic trace of so many events (10 million), follows all messages in it as takt flow
// does, and then what single messages led to and came from. Processor time, one thread.

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "synthetic_trace.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/flows.hpp"
#include "takt/flow/graph.hpp"

namespace {

namespace fs = std::filesystem;
using namespace takt;

constexpr int messages = 1000;

double processor_time() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

long largest_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

template <typename Value>
Value unwrap(Result<Value> result) {
  if (!result) {
    fmt::print(stderr, "flow_benchmark: {}\n", result.error().message);
    std::exit(1);
  }
  return std::move(*result);
}

/// Finds what single messages led to and came from. Returns the seconds for each, in ascending
/// order.
std::vector<double> follow_single(const flow::Store& store, const execution::Database& database,
                                  const std::vector<links::Link>& links) {
  const flow::History history(store);
  const flow::Causality causality(history, database.objects(), links);
  const flow::FlowGraph graph(history, database.objects(), causality);
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::uint64_t> numbers(store.first_message(),
                                                       store.end_message() - 1);
  std::vector<double> times;
  std::size_t segments = 0;
  for (int i = 0; i < messages; ++i) {
    const flow::Segment seed{flow::Segment::Kind::publication, flow::InstanceId::none,
                             static_cast<flow::PublicationId>(numbers(random))};
    const double begin = processor_time();
    segments += graph.forwards(seed).size() + graph.backwards(seed).size();
    times.push_back(processor_time() - begin);
  }
  fmt::print("{} segments belong to the flows of {} messages\n", segments, messages);
  std::ranges::sort(times);
  return times;
}

void measure(const fs::path& trace, std::uint64_t wanted) {
  const std::uint64_t events = benchmark::write_synthetic_trace(trace, wanted);
  const double begin = processor_time();
  const std::vector<fs::path> paths{trace};
  const auto source = unwrap(events::open(paths));
  flow::FlowTracker tracker(flow::FlowOptions{});
  execution::Interpreter interpreter(source->threads());
  interpreter.add(tracker);
  execution::run(*source, interpreter, {});
  if (const auto done = tracker.finish(interpreter.database()); !done) {
    fmt::print(stderr, "flow_benchmark: {}\n", done.error().message);
    std::exit(1);
  }
  const double whole = processor_time() - begin;
  const long memory = largest_memory();
  const auto& paths_found = tracker.collected().paths();
  const auto single = follow_single(tracker.store(), interpreter.database(), tracker.links());
  fmt::print("{} events, {} paths\n\n", events, paths_found.size());
  fmt::print("{:<44} {:>10.2f} s {:>8} MiB\n", "all flows, from the file", whole, memory);
  fmt::print("{:<44} {:>10.4f} ms\n", "flow of one message, median",
             1e3 * single[single.size() / 2]);
  fmt::print("{:<44} {:>10.4f} ms\n", "flow of one message, longest", 1e3 * single.back());
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  std::string scratch = (fs::temp_directory_path() / "takt-benchmark-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) {
    fmt::print(stderr, "flow_benchmark: no temporary directory\n");
    return 1;
  }
  measure(fs::path(scratch) / "trace", events);
  fs::remove_all(scratch);
  return 0;
}
