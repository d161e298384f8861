// allocator_experiment STEPS SEEDS MAPPING_STEPS [RECORDED]: runs the synthetic traces on all
// allocators, and what was recorded (recorder.cpp), and prints one JSON document.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "subjects.hpp"
#include "takt/allocation/rules.hpp"
#include "takt/allocation/trace.hpp"

namespace takt::experiment {
namespace {

using allocation::Bytes;
using Clock = std::chrono::steady_clock;

/// A trace is run so often, and the least time of each call counts: whatever else the machine does
/// hits another call each time, and what a call itself needs is in all of them.
constexpr int runs_of_a_trace = 7;

struct Extent {
  std::size_t steps = 0;
  std::uint64_t seeds = 0;
  std::size_t mapping_steps = 0;  // each of which writes 8 MiB
};

using Traces = std::vector<std::vector<allocation::Step>>;

/// Traces of one kind, one for each seed.
struct Kind {
  std::string_view name;
  Traces traces;
};

/// Nanoseconds of each call.
struct Times {
  std::vector<std::int64_t> allocate;
  std::vector<std::int64_t> release;
  bool failed = false;
};

template <typename Call>
auto timed(std::vector<std::int64_t>& times, const Call& call) {
  struct Note {
    std::vector<std::int64_t>& times;
    Clock::time_point start = Clock::now();
    ~Note() { times.push_back((Clock::now() - start) / std::chrono::nanoseconds(1)); }
  };
  const Note note{times};
  return call();
}

/// Runs a trace and releases what is left.
void measure(const Calls& subject, const std::vector<allocation::Step>& trace, Times& times) {
  struct Held {
    std::uintptr_t block;
    Bytes bytes;
  };
  std::vector<std::optional<Held>> slots(allocation::slots_of(trace));
  const auto release = [&](std::optional<Held>& held) {
    if (held) timed(times.release, [&] { subject.release(held->block, held->bytes); });
    held.reset();
  };
  for (const auto& [slot, bytes] : trace) {
    release(slots[slot]);
    if (bytes == 0) continue;
    const auto block = timed(times.allocate, [&] { return subject.allocate(bytes); });
    if (!block) {
      times.failed = true;
      break;
    }
    slots[slot] = Held{.block = *block, .bytes = bytes};
  }
  std::ranges::for_each(slots, release);
}

std::string described(std::vector<std::int64_t>& times) {
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  };
  std::int64_t sum = 0;
  for (const std::int64_t time : times) sum += time;
  return fmt::format(
      R"({{"count": {}, "mean": {}, "p50": {}, "p99": {}, "p9999": {}, "worst": {}}})",
      times.size(), sum / std::max<std::int64_t>(1, std::ssize(times)), at(0.5), at(0.99),
      at(0.9999), times.back());
}

/// The least time of each call, which was made in every run.
void keep_least(std::vector<std::int64_t>& times, const std::vector<std::int64_t>& others) {
  if (times.empty()) times = others;
  for (std::size_t call = 0; call < times.size(); ++call) {
    times[call] = std::min(times[call], others[call]);
  }
}

/// `subject` as JSON: what its calls took, over the traces.
std::string row(const Subject& subject, const Kind& kind, int repeats) {
  Times all;
  for (const auto& trace : kind.traces) {
    Times least;
    for (int repeat = 0; repeat < repeats && !all.failed; ++repeat) {
      Times times;
      times.allocate.reserve(trace.size());
      times.release.reserve(trace.size());
      measure(subject.make(), trace, times);
      all.failed = times.failed;
      if (all.failed) break;
      keep_least(least.allocate, times.allocate);
      keep_least(least.release, times.release);
    }
    if (all.failed) break;
    all.allocate.insert(all.allocate.end(), least.allocate.begin(), least.allocate.end());
    all.release.insert(all.release.end(), least.release.begin(), least.release.end());
  }
  const std::string head =
      fmt::format(R"({{"sizes": "{}", "name": "{}", )", kind.name, subject.name);
  if (all.failed) return head + R"("failed": true})";
  return fmt::format(R"({}"failed": false, "allocate": {}, "release": {}}})", head,
                     described(all.allocate), described(all.release));
}

/// What each of Takt's allocators makes of the memory, the mean over the traces.
std::string usage(const allocation::Rule& rule, const Kind& kind) {
  double in_use = 0;
  Bytes own = 0;
  std::array<double, allocation::moments> shares{};
  std::array<double, allocation::moments> largest{};
  const auto add = [&](double& sum, double value) {
    sum += value / static_cast<double>(kind.traces.size());
  };
  for (const auto& trace : kind.traces) {
    const auto allocator = rule.make(growth.step, granule);
    const auto used = allocation::use(*allocator, trace, growth);
    add(in_use, used->in_use_of_range);
    for (std::size_t moment = 0; moment < shares.size(); ++moment) {
      add(shares[moment], used->at_moments[moment]);
      add(largest[moment], used->largest_of_free[moment]);
    }
    own = std::max(own, used->most_own_bytes);
  }
  return fmt::format(
      R"({{"sizes": "{}", "name": "{}", "worst_case": "{}", "in_use": {:.4f}, "own_bytes": {}, )"
      R"("at_moments": [{:.4f}], "largest_of_free": [{:.4f}]}})",
      kind.name, rule.name, rule.worst_case, in_use, own, fmt::join(shares, ", "),
      fmt::join(largest, ", "));
}

/// The synthetic ones, and the recorded one if there is any.
std::vector<Kind> kinds(const Extent& extent, const std::vector<allocation::Step>& recorded) {
  std::vector<Kind> all;
  for (const allocation::NamedSizes& sizes : allocation::all_sizes) {
    Kind& kind = all.emplace_back(Kind{.name = sizes.name, .traces = {}});
    for (std::uint64_t seed = 1; seed <= extent.seeds; ++seed) {
      kind.traces.push_back(allocation::make_trace(sizes.sizes, extent.steps, seed));
    }
  }
  if (!recorded.empty()) all.push_back({.name = "recorded", .traces = {recorded}});
  return all;
}

/// Its first steps alone, as each of them writes all of a block.
Kind beginning(const Kind& kind, std::size_t steps) {
  std::vector<allocation::Step> first = kind.traces.front();
  first.resize(std::min(first.size(), steps));
  return {.name = kind.name, .traces = {std::move(first)}};
}

void run(const Extent& extent, const std::vector<allocation::Step>& recorded) {
  std::vector<std::string> missing;
  std::vector<std::string> rows;
  std::vector<std::string> usages;
  for (const Kind& kind : kinds(extent, recorded)) {
    missing.clear();
    std::vector<Subject> subjects = own();
    std::ranges::move(peers(missing), std::back_inserter(subjects));
    subjects.push_back(clock_alone());
    for (const Subject& subject : subjects) {
      rows.push_back(row(subject, kind, runs_of_a_trace));
    }
    rows.push_back(row(mapping_each(), beginning(kind, extent.mapping_steps), 1));
    for (const allocation::Rule& rule : allocation::rules()) usages.push_back(usage(rule, kind));
  }
  fmt::print("{{\"calls\": [{}], \"usage\": [{}], \"missing\": [{}]}}\n", fmt::join(rows, ", "),
             fmt::join(usages, ", "),
             missing.empty() ? "" : fmt::format("\"{}\"", fmt::join(missing, "\", \"")));
}

/// A line for each step: its slot, and its bytes. None: a line is something else.
std::optional<std::vector<allocation::Step>> read_recorded(const char* path) {
  constexpr std::size_t most_slots = 1'000'000;
  std::ifstream file(path);
  std::vector<allocation::Step> trace;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    allocation::Step step{};
    if (!(fields >> step.slot >> step.bytes) || !fields.eof() || step.slot >= most_slots ||
        step.bytes > growth.limit) {
      return std::nullopt;
    }
    trace.push_back(step);
  }
  if (trace.empty()) return std::nullopt;
  return trace;
}

template <typename Number>
bool read(const char* text, Number& number) {
  const auto [end, problem] = std::from_chars(text, text + std::strlen(text), number);
  return problem == std::errc{} && *end == 0 && number > 0 && number <= 1'000'000;
}

}  // namespace
}  // namespace takt::experiment

int main(int count, char** arguments) {
  takt::experiment::Extent extent;
  if (count < 4 || count > 5 || !takt::experiment::read(arguments[1], extent.steps) ||
      !takt::experiment::read(arguments[2], extent.seeds) ||
      !takt::experiment::read(arguments[3], extent.mapping_steps)) {
    fmt::print(stderr, "usage: allocator_experiment STEPS SEEDS MAPPING_STEPS [RECORDED]\n");
    return 2;
  }
  std::vector<takt::allocation::Step> recorded;
  if (count == 5) {
    auto read = takt::experiment::read_recorded(arguments[4]);
    if (!read) {
      fmt::print(stderr, "{}: no recorded trace; each line has a slot and bytes\n", arguments[4]);
      return 2;
    }
    recorded = std::move(*read);
  }
  takt::experiment::run(extent, recorded);
  return 0;
}
