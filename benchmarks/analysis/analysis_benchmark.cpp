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
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/oracle/crate_oracle.hpp"
#include "takt/testbed/random_model.hpp"

namespace {

using std::chrono::milliseconds;
using takt::Duration;
using takt::analysis::Method;
using takt::model::Model;
using takt::testbed::Shape;

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
    models.push_back(takt::testbed::random_model(single_executor, seed));
  }
  return models;
}

std::vector<Model> hundred_callbacks() {
  Shape shape = single_executor;
  shape.fewest_callbacks = shape.most_callbacks = 100;
  shape.least_utilisation = shape.most_utilisation = 90;
  shape.message_driven = 0;
  shape.reservation = 0;
  return {takt::testbed::random_model(shape, 1)};
}

/// Many executors, of which most callbacks take messages from each other, at the low utilisation of
/// each that robots have.
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
          .reservation = 100,
          .shortest_reservation_period = milliseconds{5},
          .longest_reservation_period = milliseconds{10},
          .privileged = 0,
          .message_driven = 60,
          .event_source = 25};
}

struct Timing {
  Duration best{};
  Duration median{};
};

/// Of this thread, as the oracle counts it: what else the machine does does not matter.
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

/// `ask`: whether to ask the crate too.
void print_row(std::string_view name, Method method, const std::vector<Model>& models,
               bool ask = true) {
  const takt::analysis::Options options{.method = method, .horizon = std::chrono::seconds{10}};
  std::size_t bounded = 0;
  std::size_t callbacks = 0;
  const Timing ours = time([&] {
    bounded = callbacks = 0;
    for (const Model& model : models) {
      for (const auto& callback : takt::analysis::analyze(model, options).callbacks) {
        ++callbacks;
        bounded += callback.bound.has_value();
      }
    }
  });
  std::vector<takt::oracle::Question> questions;
  for (const Model& model : models) {
    if (ask) questions.push_back({.model = &model, .options = options});
  }
  std::string crate = fmt::format("{:>12} {:>8} {:>12} {:>8}", "-", "-", "-", "-");
  if (const auto answers = takt::oracle::ask_crate(questions); ask && answers) {
    Duration elapsed{0};
    Duration last_round{0};
    for (const auto& answer : *answers) {
      elapsed += answer.elapsed;
      last_round += answer.last_round;
    }
    const double median = in_ms(ours.median);
    crate = fmt::format("{:>12.3f} {:>7.0f}x {:>12.3f} {:>7.1f}x", in_ms(elapsed),
                        in_ms(elapsed) / median, in_ms(last_round), in_ms(last_round) / median);
  }
  fmt::print("{:<38} {:<12} {:>5}/{:<5} {:>10.3f} {:>10.3f} {}\n", name,
             takt::analysis::to_string(method), bounded, callbacks, in_ms(ours.median),
             in_ms(ours.best), crate);
  std::fflush(stdout);
}

}  // namespace

int main() {
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
  const std::vector<Model> navigation{takt::testbed::random_model(robot(16, 40, 7), 2)};
  const std::vector<Model> large{takt::testbed::random_model(robot(100, 1000, 100), 1)};
  for (const Method method : {Method::round_robin, Method::busy_window, Method::combined}) {
    print_row("300 executors of 2 to 20 callbacks", method, small);
    // The crate needs a minute for the busy windows of this one; do not ask it twice.
    print_row("100 callbacks, utilisation 0.9", method, hundred, method != Method::combined);
    print_row("40 callbacks, 16 executors", method, navigation);
    print_row("1000 callbacks, 100 executors", method, large);
  }
}
