// How close the bounds are to what can happen: the longest response time that a search over
// schedules finds, over the bound. Prints the table of docs/analysis-evidence.md, or with an
// argument those rows of it whose name contains the argument.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "soundness.hpp"
#include "takt/generation/random_model.hpp"

namespace {

using takt::analysis::Method;
using takt::brute_force::Effort;
using takt::generation::Shape;

constexpr Effort effort{.random = 200, .climbing = 300};
constexpr std::uint64_t models = 150;

struct Ratios {
  std::vector<double> values;

  void add(std::int64_t observed, const std::optional<takt::Duration>& bound) {
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
    fmt::print("| {} | {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.0f} % |\n", shape,
               analysis, what, values.size(), quantile(0.1), quantile(0.5), quantile(0.9),
               sum / count, 100 * exact / count);
  }
};

/// What the names of rows must contain.
std::string_view wanted;

void print_rows(std::string_view name, const Shape& shape, std::vector<Method> methods) {
  if (name.find(wanted) == std::string_view::npos) return;
  std::vector<Ratios> callbacks(methods.size());
  std::vector<Ratios> chains(methods.size());
  std::string_view kind = "";
  for (std::uint64_t seed = 1; seed <= models; ++seed) {
    const auto model = takt::generation::random_model(shape, seed);
    const auto combined =
        takt::analysis::analyze(model, takt::brute_force::options(Method::combined));
    const auto worst = takt::brute_force::search(
        model, takt::brute_force::horizon_for(model, combined), effort, seed);
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

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) wanted = arguments[1];
  using takt::Duration;
  const std::vector<Method> all{Method::round_robin, Method::busy_window, Method::combined};
  Shape shape{.most_callbacks = 6,
              .shortest_period = Duration{10},
              .longest_period = Duration{50},
              .most_utilisation = 80,
              .privileged = 0};
  fmt::print(
      "| executors | analysis | of | bounds | 10 % | median | 90 % | mean | reached |\n"
      "|---|---|---|---|---|---|---|---|---|\n");
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
  print_rows("one events", shape, {Method::combined});
  shape.kinds = takt::model::ExecutorKind::fixed_priority;
  print_rows("one fixed-priority", shape, {Method::combined});
  shape.kinds = takt::model::ExecutorKind::edf;
  print_rows("one EDF", shape, {Method::combined});
  shape.kinds = takt::model::ExecutorKind::chain_priority;
  print_rows("one chain-priority", shape, {Method::combined});
  shape.kinds = takt::model::ExecutorKind::graph_aware;
  print_rows("one graph-aware", shape, {Method::combined});
  shape.kinds = takt::model::ExecutorKind::multi_threaded;
  shape.most_threads = 3;
  print_rows("one multi-threaded", shape, {Method::combined});
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
}
