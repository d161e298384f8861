// How many random models of several threads have bounds, and how close simulations come to them:
// the tables of docs/analysis-evidence.md.
//
//   takt_thread_bounds [MODELS] [FIRST_SEED] [SIMULATIONS] [reservations]
//
// Prints rows by load and by length of chains. Ends with 1 if a simulation exceeds a bound.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/soundness/thread_models.hpp"

namespace {

using takt::Duration;
using takt::soundness::ThreadModel;

struct Row {
  std::size_t models = 0;
  /// Models with all bounds.
  std::size_t complete = 0;
  std::size_t callbacks = 0;
  std::size_t bounded = 0;
  /// The longest time seen over the bound.
  std::vector<double> of_callbacks;
  std::vector<double> of_chains;
  std::size_t violations = 0;

  void add(const Row& other) {
    models += other.models;
    complete += other.complete;
    callbacks += other.callbacks;
    bounded += other.bounded;
    violations += other.violations;
    std::ranges::copy(other.of_callbacks, std::back_inserter(of_callbacks));
    std::ranges::copy(other.of_chains, std::back_inserter(of_chains));
  }
};

std::string median(std::vector<double> values) {
  if (values.empty()) return "-";
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return fmt::format("{:.2f}", *middle);
}

void print(std::string_view name, const Row& row) {
  const auto percent = [](std::size_t part, std::size_t whole) {
    return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {} | {} |\n", name, row.models,
             percent(row.complete, row.models), percent(row.bounded, row.callbacks),
             median(row.of_callbacks), median(row.of_chains));
}

template <typename Bounded>
void compare(const std::vector<Bounded>& bounds, const std::vector<Duration>& longest,
             std::vector<double>& ratios, std::size_t& violations) {
  for (std::size_t i = 0; i < longest.size(); ++i) {
    const std::optional<Duration> bound = bounds[i].bound;
    if (!bound) continue;
    ratios.push_back(static_cast<double>(longest[i].count()) / static_cast<double>(bound->count()));
    if (longest[i] <= *bound) continue;
    fmt::print(stderr, "{} exceeds its bound\n", bounds[i].id);
    ++violations;
  }
}

/// Of one model; none if it cannot be simulated.
std::optional<Row> row_of(const ThreadModel& made, int simulations) {
  const auto bounds = takt::analysis::analyze(made.model);
  Row row;
  row.models = 1;
  row.callbacks = bounds.callbacks.size();
  for (const auto& callback : bounds.callbacks) {
    if (callback.bound) ++row.bounded;
  }
  row.complete = row.bounded == row.callbacks ? 1 : 0;
  if (simulations == 0) return row;
  const auto longest = takt::soundness::longest_seen(made.model, simulations);
  if (!longest) {
    fmt::print(stderr, "{}\n", longest.error().message);
    return std::nullopt;
  }
  compare(bounds.callbacks, longest->callbacks, row.of_callbacks, row.violations);
  compare(bounds.chains, longest->chains, row.of_chains, row.violations);
  return row;
}

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int place, long otherwise) {
    return count > place ? std::strtol(arguments[place], nullptr, 10) : otherwise;
  };
  const long models = number(1, 2000);
  const long first = number(2, 1);
  const int simulations = static_cast<int>(number(3, 0));
  const bool reservations = count > 4 && std::string_view(arguments[4]) == "reservations";
  std::map<std::string, Row> rows;
  for (long seed = first; seed < first + models; ++seed) {
    const ThreadModel made =
        takt::soundness::random_threads(static_cast<std::uint64_t>(seed), reservations);
    const auto row = row_of(made, simulations);
    if (!row) return 2;
    if (row->violations > 0) fmt::print(stderr, "in the model of seed {}\n", seed);
    const long above = (made.load - 1) / 10 * 10;
    rows["all"].add(*row);
    rows[fmt::format("load {:02} to {} %", above + 1, above + 10)].add(*row);
    rows[fmt::format("chains of {:2}", made.length)].add(*row);
  }
  fmt::print(
      "| models | number | with all bounds | callbacks with bounds | callbacks, median of seen / "
      "bound | chains |\n|---|---|---|---|---|---|\n");
  for (const auto& [name, row] : rows) print(name, row);
  const std::size_t violations = rows["all"].violations;
  fmt::print("{} violations\n", violations);
  return violations == 0 ? 0 : 1;
}
