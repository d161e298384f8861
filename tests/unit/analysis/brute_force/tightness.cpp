// How close the bounds are to what can happen: the longest response time that a search over
// schedules finds, over the bound. Prints the table of docs/analysis-evidence.md:
//
//   analysis_tightness [ROWS] [models=N] [seed=N] [random=N] [climbing=N]
//
// ROWS: only those rows whose name contains it. models: how many random models for each row, from
// that seed on. random, climbing: how many schedules are tried at random for each model, and how
// many steps uphill are taken for each callback and chain: phases, execution times, delays,
// publications, supplies. The same arguments print the same table on every machine. The rows
// "exhaustive" compare bounds and search with all schedules of very small models. The rows "growth"
// are a table of their own: for how many multi-threaded models is a bound missing that might exist?

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string_view>
#include <vector>

#include "growth.hpp"
#include "soundness.hpp"
#include "takt/generation/random_model.hpp"

namespace {

using takt::analysis::Method;
using takt::brute_force::Effort;
using takt::generation::Shape;

struct Arguments {
  std::string_view rows;
  std::uint64_t models = 150;
  std::uint64_t seed = 1;
  Effort effort{.random = 200, .climbing = 300};
};
Arguments given;

struct Ratios {
  std::vector<double> values;
  std::size_t unbounded = 0;

  void add(std::int64_t observed, const std::optional<takt::Duration>& bound) {
    if (!bound) ++unbounded;
    if (bound && observed > 0) {
      values.push_back(static_cast<double>(observed) / static_cast<double>(bound->count()));
    }
  }

  [[nodiscard]] double quantile(double q) const {
    return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
  }

  void print(std::string_view shape, std::string_view analysis, std::string_view what) {
    if (values.empty()) return;
    std::ranges::sort(values);
    double sum = 0;
    for (const double value : values) sum += value;
    const auto count = static_cast<double>(values.size());
    const auto exact = static_cast<double>(std::ranges::count(values, 1.0));
    const auto without = static_cast<double>(unbounded);
    fmt::print("| {} | {} | {} | {} | {:.0f} % | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} % |\n",
               shape, analysis, what, values.size(), 100 * without / (without + count),
               quantile(0.1), quantile(0.5), quantile(0.9), sum / count, 100 * exact / count);
  }
};

void print_rows(std::string_view name, const Shape& shape, std::vector<Method> methods) {
  if (name.find(given.rows) == std::string_view::npos) return;
  std::vector<Ratios> callbacks(methods.size());
  std::vector<Ratios> chains(methods.size());
  std::string_view kind = "";
  for (std::uint64_t seed = given.seed; seed < given.seed + given.models; ++seed) {
    const auto model = takt::generation::random_model(shape, seed);
    const auto combined =
        takt::analysis::analyze(model, takt::brute_force::options(Method::combined));
    const auto worst = takt::brute_force::search(
        model, takt::brute_force::horizon_for(model, combined), given.effort, seed);
    for (std::size_t m = 0; m < methods.size(); ++m) {
      const auto bounds = takt::analysis::analyze(model, takt::brute_force::options(methods[m]));
      for (std::size_t i = 0; i < bounds.callbacks.size(); ++i) {
        callbacks[m].add(worst.callbacks[i].response, bounds.callbacks[i].bound);
      }
      for (std::size_t i = 0; i < bounds.chains.size(); ++i) {
        chains[m].add(worst.chains[i].response, bounds.chains[i].bound);
      }
    }
  }
  for (std::size_t m = 0; m < methods.size(); ++m) {
    kind = methods.size() == 1 ? "its own" : takt::analysis::to_string(methods[m]);
    callbacks[m].print(name, kind, "callbacks");
    chains[m].print(name, kind, "chains");
  }
}

/// All schedules of models with two or three callbacks and times of a few ε that differ in the
/// first choices of each freedom: what they show over the bound, and what the search finds of it.
void print_exhaustive_rows(std::string_view name, Shape shape) {
  if (name.find(given.rows) == std::string_view::npos) return;
  using takt::Duration;
  shape.fewest_callbacks = 2;
  shape.most_callbacks = 3;
  shape.shortest_period = Duration{3};
  shape.longest_period = Duration{6};
  shape.most_utilisation = 70;
  shape.reservation = shape.jitter = 0;
  shape.burst = 10;
  constexpr std::int64_t horizon = 14;
  constexpr std::size_t choices = 2;
  constexpr std::int64_t most_schedules = 30'000;
  Ratios truth;
  Ratios found;
  for (std::uint64_t seed = given.seed; seed < given.seed + given.models; ++seed) {
    const auto model = takt::generation::random_model(shape, seed);
    const auto all = takt::brute_force::enumerate(model, horizon, choices, most_schedules);
    if (!all.complete) continue;
    const auto searched = takt::brute_force::search(model, horizon, given.effort, seed);
    const auto bounds =
        takt::analysis::analyze(model, takt::brute_force::options(Method::combined));
    for (std::size_t i = 0; i < bounds.callbacks.size(); ++i) {
      const std::int64_t longest = all.worst.callbacks[i].response;
      truth.add(longest, bounds.callbacks[i].bound);
      found.add(std::min(searched.callbacks[i].response, longest), Duration{longest});
    }
  }
  truth.print(name, "all schedules over the bound", "callbacks");
  found.print(name, "search over all schedules", "callbacks");
}

/// How many models have a callback without a bound, and of how many of these a schedule is known in
/// which ever more instances wait, so that they have none: the others may be schedulable.
void print_growth(std::string_view name, const Shape& shape) {
  if (name.find(given.rows) == std::string_view::npos) return;
  constexpr std::int64_t finer = 2;
  constexpr int tries = 100;
  constexpr std::int64_t periods = 4000;
  std::uint64_t unbounded = 0;
  std::uint64_t growing = 0;
  for (std::uint64_t seed = given.seed; seed < given.seed + given.models; ++seed) {
    const auto model = takt::generation::random_model(shape, seed);
    const auto bounds =
        takt::analysis::analyze(model, takt::brute_force::options(Method::combined));
    if (bounds.converged) continue;
    ++unbounded;
    const auto fine = takt::brute_force::on_finer_clock(model, finer);
    growing += takt::brute_force::find_growth(fine, tries, seed, periods).has_value();
  }
  const auto percent = [](std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(all);
  };
  const std::uint64_t open = unbounded - growing;
  fmt::print("| {} | {} | {} ({:.1f} %) | {} | {} ({:.1f} %) |\n", name, given.models, unbounded,
             percent(unbounded, given.models), growing, open,
             percent(open, given.models - growing));
}

/// Whether it is NAME=NUMBER with that name.
bool set(std::string_view argument, std::string_view name, auto& value) {
  if (!argument.starts_with(name) || argument.substr(name.size(), 1) != "=") return false;
  const std::string_view number = argument.substr(name.size() + 1);
  return std::from_chars(number.data(), number.data() + number.size(), value).ptr ==
         number.data() + number.size();
}

}  // namespace

int main(int count, char** arguments) {
  for (const std::string_view argument :
       std::span(arguments, static_cast<std::size_t>(count)).subspan(1)) {
    if (set(argument, "models", given.models) || set(argument, "seed", given.seed) ||
        set(argument, "random", given.effort.random) ||
        set(argument, "climbing", given.effort.climbing)) {
      continue;
    }
    given.rows = argument;
  }
  using takt::Duration;
  const std::vector<Method> own{Method::combined, Method::tight, Method::exact};
  const std::vector<Method> all{Method::round_robin, Method::busy_window, Method::combined,
                                Method::tight, Method::exact};
  Shape shape{.most_callbacks = 6,
              .shortest_period = Duration{10},
              .longest_period = Duration{50},
              .most_utilisation = 80,
              .privileged = 0};
  fmt::print(
      "| executors | analysis | of | bounds | without | 10 % | median | 90 % | mean | reached |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  print_rows("one default", shape, all);
  shape.privileged = 100;
  print_rows("one default, privileged timers", shape, all);
  shape.privileged = 0;
  shape.fewest_executors = 2;
  shape.most_executors = 3;
  shape.most_callbacks = 8;
  print_rows("two or three default", shape, all);
  shape.fewest_executors = shape.most_executors = 1;
  shape.most_callbacks = 6;
  shape.kinds = takt::model::ExecutorKind::events;
  print_rows("one events", shape, own);
  shape.kinds = takt::model::ExecutorKind::fixed_priority;
  print_rows("one fixed-priority", shape, own);
  shape.kinds = takt::model::ExecutorKind::edf;
  print_rows("one EDF", shape, own);
  shape.kinds = takt::model::ExecutorKind::chain_priority;
  print_rows("one chain-priority", shape, own);
  shape.kinds = takt::model::ExecutorKind::graph_aware;
  print_rows("one graph-aware", shape, own);
  shape.kinds = takt::model::ExecutorKind::multi_threaded;
  shape.most_threads = 3;
  const Shape several_threads = shape;
  print_rows("one multi-threaded", shape, {Method::combined});
  shape.reservation = 0;
  print_rows("one multi-threaded, dedicated", shape, {Method::combined});
  shape.reservation = 50;
  shape.most_threads = 1;
  shape.longest_period = Duration{120};
  shape.most_utilisation = 40;
  shape.release_overhead = 100;
  shape.kinds = takt::model::ExecutorKind::fixed_priority;
  print_rows("one fixed-priority, releases cost ε", shape, {Method::combined});
  shape.release_overhead = 0;
  shape.most_callbacks = 4;
  shape.shortest_period = Duration{60};
  shape.longest_period = Duration{150};
  shape.least_utilisation = 5;
  shape.most_utilisation = 15;
  shape.kinds = takt::model::ExecutorKind::table_driven;
  print_rows("one table-driven", shape, {Method::combined});

  using enum takt::model::ExecutorKind;
  print_exhaustive_rows("exhaustive: one default", {.kinds = single_threaded, .privileged = 0});
  print_exhaustive_rows("exhaustive: one events", {.kinds = events});
  print_exhaustive_rows("exhaustive: one fixed-priority", {.kinds = fixed_priority});
  print_exhaustive_rows("exhaustive: one EDF", {.kinds = edf});
  print_exhaustive_rows("exhaustive: one graph-aware", {.kinds = graph_aware});
  print_exhaustive_rows("exhaustive: one multi-threaded",
                        {.kinds = multi_threaded, .most_threads = 2});

  fmt::print(
      "\n| executors | models | without a bound | of these ever more instances wait | perhaps "
      "schedulable, of all that may be |\n|---|---|---|---|---|\n");
  print_growth("growth: one multi-threaded", several_threads);
  shape = several_threads;
  shape.reservation = 0;
  print_growth("growth: one multi-threaded, dedicated", shape);
}
