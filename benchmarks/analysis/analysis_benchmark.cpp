// How long bounds take, and how long the crate response-time-analysis takes for the same ones: on
// the same systems, in one run, each from a model in memory to all bounds of callbacks and chains.

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/analysis/analyzer.hpp"
#include "takt/generation/random_model.hpp"
#include "takt/model/names.hpp"
#include "takt/oracle/crate_oracle.hpp"
#include "takt/shapes/shapes.hpp"

namespace {

using std::chrono::milliseconds;
using takt::Duration;
using takt::analysis::Method;
using takt::generation::Shape;
using takt::model::Model;

constexpr int repetitions = 9;

constexpr Shape single_executor{.fewest_callbacks = 2,
                                .most_callbacks = 20,
                                .shortest_period = milliseconds{1},
                                .longest_period = milliseconds{100},
                                .least_utilisation = 30,
                                .most_utilisation = 90,
                                .shortest_reservation_period = milliseconds{1},
                                .longest_reservation_period = milliseconds{10},
                                .privileged = 0};

std::vector<Model> single_executors() {
  std::vector<Model> models;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    models.push_back(takt::generation::random_model(single_executor, seed));
  }
  return models;
}

std::vector<Model> hundred_callbacks() {
  Shape shape = single_executor;
  shape.fewest_callbacks = shape.most_callbacks = 100;
  shape.least_utilisation = shape.most_utilisation = 90;
  shape.message_driven = 0;
  shape.reservation = 0;
  return {takt::generation::random_model(shape, 1)};
}

/// Many executors, most of whose callbacks take messages from each other, each at a low
/// utilisation, as in robots.
Shape robot(int executors, int callbacks, int chains) {
  return {.fewest_executors = executors,
          .most_executors = executors,
          .fewest_callbacks = callbacks,
          .most_callbacks = callbacks,
          .most_chains = chains,
          .shortest_period = milliseconds{10},
          .longest_period = milliseconds{1000},
          .least_utilisation = 5,
          .most_utilisation = 40,
          .shortest_reservation_period = milliseconds{5},
          .longest_reservation_period = milliseconds{10},
          .reservation = 100,
          .privileged = 0,
          .message_driven = 60,
          .event_source = 25};
}

struct Timing {
  Duration best{};
  Duration median{};
};

/// The processor time of this thread, as the oracle counts it, so that other load does not matter.
Duration processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec};
}

template <typename Work>
Timing time(Work work) {
  std::vector<Duration> runs;
  for (int n = 0; n < repetitions; ++n) {
    const Duration begin = processor_time();
    work();
    runs.push_back(processor_time() - begin);
  }
  std::ranges::sort(runs);
  return {runs.front(), runs[runs.size() / 2]};
}

double in_ms(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

takt::analysis::Options options_for(Method method) {
  return {.method = method, .horizon = std::chrono::seconds{10}};
}

/// The crate's answer for each model; empty if the crate is not there.
std::vector<takt::oracle::Answer> ask(const std::vector<Model>& models, Method method) {
  std::vector<takt::oracle::Question> questions;
  for (const Model& model : models) {
    questions.push_back({.model = &model, .options = options_for(method)});
  }
  return takt::oracle::ask_crate(questions).value_or(std::vector<takt::oracle::Answer>{});
}

/// Processor time for the same bounds.
struct Row {
  Timing ours;
  Duration crate{};
  Duration last_round{};
};

Row print_row(std::string_view name, Method method, const std::vector<Model>& models,
              const std::vector<takt::oracle::Answer>& answers) {
  std::size_t bounded = 0;
  std::size_t callbacks = 0;
  Row row;
  row.ours = time([&] {
    bounded = callbacks = 0;
    for (const Model& model : models) {
      for (const auto& callback : takt::analysis::analyze(model, options_for(method)).callbacks) {
        ++callbacks;
        bounded += callback.bound.has_value();
      }
    }
  });
  for (const auto& answer : answers) {
    row.crate += answer.elapsed;
    row.last_round += answer.last_round;
  }
  const double median = in_ms(row.ours.median);
  std::string crate = fmt::format("{:>12} {:>8} {:>12} {:>8}", "-", "-", "-", "-");
  if (!answers.empty()) {
    crate = fmt::format("{:>12.3f} {:>7.0f}x {:>12.3f} {:>7.1f}x", in_ms(row.crate),
                        in_ms(row.crate) / median, in_ms(row.last_round),
                        in_ms(row.last_round) / median);
  }
  fmt::print("{:<38} {:<12} {:>5}/{:<5} {:>10.3f} {:>10.3f} {}\n", name,
             takt::analysis::to_string(method), bounded, callbacks, median, in_ms(row.ours.best),
             crate);
  std::fflush(stdout);
  return row;
}

/// The crate ends at the first callback without bound, so only models in which every callback has
/// one are equal work.
Row print_equal_work(Method method, const std::vector<Model>& models,
                     const std::vector<takt::oracle::Answer>& answers) {
  std::vector<Model> bounded;
  std::vector<takt::oracle::Answer> their;
  for (std::size_t n = 0; n < answers.size(); ++n) {
    if (!std::ranges::all_of(answers[n].callbacks, [](auto& b) { return b.has_value(); })) continue;
    bounded.push_back(models[n]);
    their.push_back(answers[n]);
  }
  return print_row(fmt::format("  of these, {} that have all bounds", bounded.size()), method,
                   bounded, their);
}

/// Measures what a budget manager needs: one executor's budget changes, and the bounds are computed
/// again.
void print_changes(std::string_view name, const Model& model) {
  const takt::analysis::Options options = options_for(Method::combined);
  takt::analysis::Analyzer analyzer(model, options);
  (void)analyzer.bounds();
  std::size_t changes = 0;
  std::size_t analysed = 0;
  const auto change = [&](takt::model::ExecutorIndex executor, Duration budget) {
    analyzer.set_budget(executor, budget);
    (void)analyzer.bounds();
    ++changes;
    analysed += analyzer.analysed_executors();
  };
  const Timing again = time([&] {
    changes = analysed = 0;
    for (std::size_t e = 0; e < model.executors.size(); ++e) {
      const auto* reservation =
          std::get_if<takt::model::ReservationSupply>(&model.executors[e].supply);
      if (reservation == nullptr) continue;
      const takt::model::ExecutorIndex executor{e};
      change(executor, reservation->budget - takt::epsilon);
      change(executor, reservation->budget);
    }
  });
  const Timing whole = time([&] { (void)takt::analysis::analyze(model, options); });
  const double each = 1e3 * in_ms(again.median) / static_cast<double>(changes);
  fmt::print("{:<38} {:>10.1f} {:>12.1f} {:>11.1f}x {:>12.1f} of {}\n", name, each,
             1e3 * in_ms(whole.median), 1e3 * in_ms(whole.median) / each,
             static_cast<double>(analysed) / static_cast<double>(changes), model.executors.size());
}

/// Measures models whose searches the limit of steps ends: once, each took minutes or did not end.
void print_limited(std::string_view name, const Model& model) {
  const takt::analysis::Options options;
  takt::analysis::Bounds bounds;
  const Duration begin = processor_time();
  bounds = takt::analysis::analyze(model, options);
  const Duration took = processor_time() - begin;
  const auto bounded = std::ranges::count_if(
      bounds.callbacks, [](const auto& callback) { return callback.bound.has_value(); });
  fmt::print("{:<38} {:<16} {:>10.1f} {:>14} {:>6}/{:<6} {:>3} of {}\n", name,
             takt::model::to_string(model.executors.front().kind), in_ms(took), bounds.steps,
             bounded, model.callbacks.size(), bounds.coarse.size(), model.executors.size());
  std::fflush(stdout);
}

void print_limited_models() {
  using Kind = takt::model::ExecutorKind;
  fmt::print(
      "\nWith the usual limit of steps; processor time in ms.\n\n{:<38} {:<16} {:>10} {:>14} "
      "{:>13} {}\n",
      "system", "executor", "time", "steps", "bounded", "coarse executors");
  for (const Kind kind :
       {Kind::single_threaded, Kind::multi_threaded, Kind::events, Kind::fixed_priority, Kind::edf,
        Kind::chain_priority, Kind::graph_aware}) {
    for (const std::int64_t count : {10, 100, 1000, 10'000}) {
      for (const std::int64_t percent : {50, 99}) {
        print_limited(fmt::format("{} callbacks, utilisation 0.{}", count, percent),
                      takt::shapes::independent(kind, count, percent));
      }
    }
    for (const std::size_t length : {std::size_t{100}, std::size_t{1000}, std::size_t{10'000}}) {
      print_limited(fmt::format("a chain of {} on 10 executors", length),
                    takt::shapes::chain(kind, length, 10));
    }
  }
  for (const std::size_t count : {std::size_t{24}, std::size_t{50}, std::size_t{400}}) {
    print_limited(fmt::format("{} nested newest joins", count),
                  takt::shapes::nested_joins(takt::model::JoinKind::newest, count));
    print_limited(fmt::format("{} nested AND joins", count),
                  takt::shapes::nested_joins(takt::model::JoinKind::and_, count));
  }
}

/// Prints what bounds cost by size, kind of executor, structure and load, as comma-separated values
/// for benchmarks/analysis/cost_plot.py. `--costs ANALYSIS KIND`: by another analysis than
/// combined, of executors of that kind alone.
void print_costs(Method method, std::string_view only) {
  using Kind = takt::model::ExecutorKind;
  fmt::print("kind,structure,utilisation,callbacks,ms,steps,bounded,coarse\n");
  for (const Kind kind :
       {Kind::single_threaded, Kind::multi_threaded, Kind::events, Kind::fixed_priority, Kind::edf,
        Kind::chain_priority, Kind::graph_aware}) {
    if (!only.empty() && takt::model::to_string(kind) != only) continue;
    for (const takt::shapes::Structure structure : takt::shapes::structures) {
      for (const std::int64_t percent : {50, 99}) {
        for (const std::size_t count : {10U, 30U, 100U, 300U, 1000U, 3000U, 10'000U}) {
          const Model model = takt::shapes::structured(kind, structure, count, percent);
          takt::analysis::Bounds bounds;
          const Duration begin = processor_time();
          bounds = takt::analysis::analyze(model, {.method = method});
          const Duration took = processor_time() - begin;
          fmt::print("{},{},{},{},{:.3f},{},{},{}\n", takt::model::to_string(kind),
                     takt::shapes::to_string(structure), percent, count, in_ms(took), bounds.steps,
                     std::ranges::count_if(bounds.callbacks,
                                           [](const auto& c) { return c.bound.has_value(); }),
                     bounds.coarse.size());
          std::fflush(stdout);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--limited") {
    print_limited_models();
    return 0;
  }
  if (argc > 1 && std::string_view(argv[1]) == "--costs") {
    const auto method = takt::analysis::method_from_string(argc > 2 ? argv[2] : "combined");
    if (!method) return 2;
    print_costs(*method, argc > 3 ? argv[3] : "");
    return 0;
  }
  fmt::print(
      "Bounds of all callbacks and chains; processor time in ms. \"bounded\": callbacks with a "
      "bound below\n"
      "10 s. \"crate\": the same bounds by response-time-analysis 0.3.2 in the loop that it leaves "
      "to\nits caller; \"last round\": the crate alone, each bound evaluated once at the "
      "solution.\n\n"
      "{:<38} {:<12} {:>11} {:>10} {:>10} {:>12} {:>8} {:>12} {:>8}\n",
      "system", "analysis", "bounded", "median", "best", "crate", "ratio", "last round", "ratio");
  const std::vector<Model> small = single_executors();
  const std::vector<Model> hundred = hundred_callbacks();
  const std::vector<Model> navigation{takt::generation::random_model(robot(16, 40, 7), 2)};
  const std::vector<Model> large{takt::generation::random_model(robot(100, 1000, 100), 1)};
  Row total;
  for (const Method method : {Method::round_robin, Method::busy_window, Method::combined}) {
    const auto answers = ask(small, method);
    const Row row = print_row("300 executors of 2 to 20 callbacks", method, small, answers);
    total.ours.median += row.ours.median;
    total.crate += row.crate;
    if (method == Method::round_robin) (void)print_equal_work(method, small, answers);
    // The crate needs a minute for the busy windows of this one; do not ask it twice.
    print_row(
        "100 callbacks, utilisation 0.9", method, hundred,
        method == Method::combined ? std::vector<takt::oracle::Answer>{} : ask(hundred, method));
    print_row("40 callbacks, 16 executors", method, navigation, ask(navigation, method));
    print_row("1000 callbacks, 100 executors", method, large, ask(large, method));
  }
  fmt::print(
      "300 executors, the three analyses together: {:.1f} ms, the crate {:.1f} ms: {:.0f}x\n",
      in_ms(total.ours.median), in_ms(total.crate), in_ms(total.crate) / in_ms(total.ours.median));
  fmt::print(
      "\nThe same bounds again after the budget of one executor has changed; processor time "
      "in us.\n\n{:<38} {:>10} {:>12} {:>12} {:>12}\n",
      "system", "again", "from scratch", "ratio", "analysed executors");
  print_changes("40 callbacks, 16 executors", navigation.front());
  print_changes("1000 callbacks, 100 executors", large.front());
  print_limited_models();
}
