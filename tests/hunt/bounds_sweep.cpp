// What bounds of random models cost, and how many models have all of them.
//
//   takt_bounds_sweep KIND [MODELS] [FIRST_SEED] [NAME=NUMBER ...] [analysis=NAME]
//
// KIND is a kind of executor, "all", "threads" or "reservations"; the latter two are the models of
// takt_thread_bounds. NAME is a feature of features.def with its chance in percent, or one of
//
//   executors, callbacks, threads    the most of them in a model (3, 20, 3)
//   period                           the longest period, in ns (150); the shortest is a seventh
//   load                             the largest load, in percent (75)
//   releases                         the longest cost of a release, in ns (2)
//   effort                           see analysis::Options
//   slow                             models that take more ms of processor time are named (2000)
//
// Prints rows by load: of the executor that has most of it, with the overhead of the executor and
// the cost of releases, as if no trigger set or join suppressed any. Ends with 1 if a model is
// slow.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/generation/load.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/names.hpp"
#include "takt/model/order.hpp"
#include "takt/soundness/soundness.hpp"
#include "takt/soundness/thread_models.hpp"

namespace {

using takt::Duration;
namespace analysis = takt::analysis;
namespace generation = takt::generation;
namespace model = takt::model;

struct Sweep {
  std::string kind;
  std::optional<generation::Shape> shape;
  bool reservations = false;
  std::uint64_t models = 1000;
  std::uint64_t first = 1;
  analysis::Options options;
  double slow = 2000;

  [[nodiscard]] model::Model draw(std::uint64_t seed) const {
    if (shape) return generation::random_model(*shape, seed);
    return takt::soundness::random_threads(seed, reservations).model;
  }
};

/// Processors that an executor has in the long run.
double processors(const model::Executor& executor) {
  const bool is_limited = std::holds_alternative<model::ReservationSupply>(executor.supply) ||
                          std::holds_alternative<model::SlotSupply>(executor.supply);
  return is_limited ? generation::bandwidth(executor.supply)
                    : static_cast<double>(executor.threads);
}

/// The cost of each of many instances.
double mean(const std::vector<Duration>& curve) {
  if (curve.empty()) return 0;
  return static_cast<double>(curve.back().count()) / static_cast<double>(curve.size());
}

/// Of the executor that has most, in percent. Edges from later callbacks are left out.
double largest_load(const model::Model& model) {
  std::vector<double> rates;
  std::vector<double> demands(model.executors.size());
  for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
    const model::Callback& callback = model.callbacks[i];
    const model::Executor& executor = model[callback.executor];
    double all = callback.activation ? generation::rate(*callback.activation) : 0;
    for (const model::Edge& edge : model.edges) {
      const bool counts = edge.to == model::CallbackIndex{i} && edge.from < edge.to &&
                          !model::samples_messages(callback);
      if (counts) all += rates[edge.from.value()];
    }
    rates.push_back(all);
    const double cost = mean(callback.execution_time) + mean(executor.overhead) +
                        static_cast<double>(executor.release_overhead.count());
    demands[callback.executor.value()] += all * cost;
  }
  double largest = 0;
  for (std::size_t e = 0; e < demands.size(); ++e) {
    largest = std::max(largest, 100 * demands[e] / processors(model.executors[e]));
  }
  return largest;
}

struct Row {
  std::size_t models = 0;
  /// Models with all bounds, and models with coarse ones among them.
  std::size_t complete = 0;
  std::size_t coarse = 0;
  std::size_t callbacks = 0;
  std::size_t bounded = 0;
  std::size_t slow = 0;
  std::vector<double> milliseconds;

  void add(const analysis::Bounds& bounds, double took, double limit) {
    ++models;
    callbacks += bounds.callbacks.size();
    const auto has = [](const auto& each) { return each.bound.has_value(); };
    bounded += static_cast<std::size_t>(std::ranges::count_if(bounds.callbacks, has));
    if (std::ranges::all_of(bounds.callbacks, has)) ++complete;
    if (!bounds.coarse.empty()) ++coarse;
    if (took > limit) ++slow;
    milliseconds.push_back(took);
  }
};

double percent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void print(std::string_view name, Row& row) {
  std::ranges::sort(row.milliseconds);
  const auto quantile = [&](std::size_t permille) {
    return row.milliseconds[(row.milliseconds.size() - 1) * permille / 1000];
  };
  fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.2f} | {:.1f} | {:.1f} | {} |\n", name,
             row.models, percent(row.complete, row.models), percent(row.bounded, row.callbacks),
             percent(row.coarse, row.models), quantile(500), quantile(999), quantile(1000),
             row.slow);
}

double processor_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

/// None: the text is something else than a number, or too large.
std::optional<std::uint64_t> number_from(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool set_size(Sweep& sweep, std::string_view name, std::uint64_t number) {
  auto& shape = *sweep.shape;
  const int size = static_cast<int>(std::min<std::uint64_t>(number, 1'000'000));
  if (name == "executors") shape.most_executors = size;
  if (name == "callbacks") shape.most_callbacks = size;
  if (name == "threads") shape.most_threads = size;
  if (name == "load") shape.most_utilisation = size;
  if (name == "releases") shape.longest_release_overhead = Duration{size};
  if (name == "period") {
    shape.shortest_period = Duration{std::max(1, size / 7)};
    shape.longest_period = Duration{size};
    shape.longest_reservation_period = Duration{std::max(1, size / 12)};
  }
  constexpr std::string_view sizes = "|executors|callbacks|threads|load|releases|period|";
  return number > 0 && sizes.find(fmt::format("|{}|", name)) != std::string_view::npos;
}

bool set(Sweep& sweep, std::string_view assignment) {
  const auto equals = std::min(assignment.find('='), assignment.size() - 1);
  const std::string_view name = assignment.substr(0, equals);
  const std::string_view value = assignment.substr(equals + 1);
  if (name == "analysis") {
    const auto method = analysis::method_from_string(value);
    if (method) sweep.options.method = *method;
    return method.has_value();
  }
  const auto number = number_from(value);
  if (!number || *number > 1'000'000'000'000) return false;
  if (name == "slow") {
    sweep.slow = static_cast<double>(*number);
    return true;
  }
  if (name == "effort") {
    sweep.options.effort = static_cast<std::int64_t>(*number);
    return *number > 0;
  }
  if (!sweep.shape) return false;
  for (const auto& feature : generation::features()) {
    if (feature.name != name || *number > 100) continue;
    (*sweep.shape).*feature.chance = static_cast<int>(*number);
    return true;
  }
  return set_size(sweep, name, *number);
}

/// None: there is no such kind.
std::optional<Sweep> sweep_of(const std::string& kind) {
  Sweep sweep{.kind = kind, .shape = std::nullopt, .options = {}};
  sweep.reservations = kind == "reservations";
  if (kind == "threads" || kind == "reservations") return sweep;
  const auto known = model::from_string<model::ExecutorKind>(kind);
  if (!known && kind != "all") return std::nullopt;
  sweep.shape = generation::any_model(known ? generation::ExecutorKinds{*known}
                                            : takt::soundness::all_kinds());
  sweep.shape->most_callbacks = 20;
  return sweep;
}

int run(const Sweep& sweep) {
  std::map<std::string, Row> rows;
  for (std::uint64_t seed = sweep.first; seed < sweep.first + sweep.models; ++seed) {
    const model::Model model = sweep.draw(seed);
    const double before = processor_milliseconds();
    const analysis::Bounds bounds = analysis::analyze(model, sweep.options);
    const double took = processor_milliseconds() - before;
    const double load = largest_load(model);
    if (took > sweep.slow) {
      fmt::print("seed {}: {:.0f} ms for {} callbacks, {} steps, load {:.0f} %{}\n", seed, took,
                 model.callbacks.size(), bounds.steps, load,
                 bounds.coarse.empty() ? "" : ", coarse");
    }
    const int tenth = std::min(10, static_cast<int>(load / 10));
    rows["all"].add(bounds, took, sweep.slow);
    rows[fmt::format("load from {:3} %", 10 * tenth)].add(bounds, took, sweep.slow);
  }
  fmt::print(
      "| {} | models | with all bounds | callbacks with bounds | with coarse ones | ms, median | "
      "99.9 % | longest | above {} ms |\n|---|---|---|---|---|---|---|---|---|\n",
      sweep.kind, sweep.slow);
  for (auto& [name, row] : rows) print(name, row);
  return rows["all"].slow == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string kind = count > 1 ? arguments[1] : "all";
  auto sweep = sweep_of(kind);
  if (!sweep) {
    fmt::print(stderr,
               "takt_bounds_sweep: \"{}\" is no kind of executor; one of all, threads, "
               "reservations, {}\n",
               kind, model::all_names<model::ExecutorKind>());
    return 2;
  }
  const auto models = number_from(count > 2 ? arguments[2] : "1000");
  const auto first = number_from(count > 3 ? arguments[3] : "1");
  if (!models || !first || *models == 0 || *first + *models < *first) {
    fmt::print(stderr,
               "takt_bounds_sweep: MODELS and FIRST_SEED are numbers, and MODELS is above "
               "0\n");
    return 2;
  }
  sweep->models = *models;
  sweep->first = *first;
  for (int i = 4; i < count; ++i) {
    if (set(*sweep, arguments[i])) continue;
    fmt::print(stderr, "takt_bounds_sweep: \"{}\" sets nothing of models from {}\n", arguments[i],
               kind);
    return 2;
  }
  return run(*sweep);
}
