// Measures what it costs to dispatch a callback and how soon an executor that sleeps runs one, for
// all executors that this machine has in one run. Rounds of all executors alternate, and each
// figure is the median of the rounds. A ratio is the median of the rounds' ratios with their
// quartiles, so that a load that lasts for a while burdens both sides of it.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "rcl_subjects.hpp"
#ifdef TAKT_HAS_RCLCPP
#include "rclcpp_subjects.hpp"
#endif

namespace takt::benchmark {
namespace {

constexpr int rounds = 15;

using Rounds = std::vector<Round>;

double microseconds(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

double median(const Rounds& all, Duration Round::*member) {
  std::vector<double> values;
  for (const Round& round : all) values.push_back(microseconds(round.*member));
  return quantile(values, 0.5);
}

/// The median of what `all` took beyond `floor`.
double median_beyond(const Rounds& all, const Rounds& floor, Duration Round::*member) {
  std::vector<double> values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    values.push_back(microseconds(all[i].*member - floor[i].*member));
  }
  return quantile(values, 0.5);
}

std::string ratio(const Rounds& own, const Rounds& others, Duration Round::*member) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.size(); ++i) {
    ratios.push_back(static_cast<double>((own[i].*member).count()) /
                     static_cast<double>((others[i].*member).count()));
  }
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", quantile(ratios, 0.5), quantile(ratios, 0.25),
                     quantile(ratios, 0.75));
}

using Subjects = std::vector<std::unique_ptr<Subject>>;

std::vector<Rounds> measure_all(const Subjects& subjects) {
  std::vector<Rounds> measured(subjects.size());
  for (int round = 0; round < rounds; ++round) {
    // Each subject is the first in some round, as the first one finds the caches colder.
    for (std::size_t n = 0; n < subjects.size(); ++n) {
      const std::size_t i = (n + static_cast<std::size_t>(round)) % subjects.size();
      measured[i].push_back(measure(*subjects[i]));
    }
  }
  return measured;
}

/// Prints microseconds, and in brackets those beyond what any executor pays.
void print_table(const Subjects& subjects, const std::vector<Rounds>& measured) {
  fmt::print("{:<40} {:>16} {:>16} {:>16} {:>14}\n", "executor, us", "dispatch", "all", "wake-up",
             "wake-up, 99 %");
  const auto floor = std::ranges::find(subjects, Subject::Role::floor, &Subject::role);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    fmt::print("{:<40}", subjects[i]->name());
    for (const auto member : {&Round::dispatch, &Round::everything, &Round::wake_up}) {
      std::string text = fmt::format("{:.2f}", median(measured[i], member));
      if (floor != subjects.end()) {
        const auto& paid = measured[static_cast<std::size_t>(floor - subjects.begin())];
        text += fmt::format(" ({:+.2f})", median_beyond(measured[i], paid, member));
      }
      fmt::print(" {:>16}", text);
    }
    fmt::print(" {:>14.2f}\n", median(measured[i], &Round::late_wake_up));
  }
}

void print_ratios(const Subjects& subjects, const std::vector<Rounds>& measured, std::size_t own) {
  fmt::print("\n{:<40} {:>21} {:>21} {:>21}\n", subjects[own]->name() + ", to", "dispatch", "all",
             "wake-up");
  for (std::size_t other = 0; other < subjects.size(); ++other) {
    if (other == own) continue;
    fmt::print("  {:<38}", subjects[other]->name());
    for (const auto member : {&Round::dispatch, &Round::everything, &Round::wake_up}) {
      fmt::print(" {:>21}", ratio(measured[own], measured[other], member));
    }
    fmt::print("\n");
  }
}

void compare(std::string_view title, const Subjects& subjects) {
  const std::vector<Rounds> measured = measure_all(subjects);
  fmt::print("\n# {}\n\n", title);
  print_table(subjects, measured);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i]->role() != Subject::Role::other) print_ratios(subjects, measured, i);
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace takt::benchmark

// Arguments: parts of titles; only tables whose titles have one of them are printed.
int main(int count, char** arguments) {
  const std::vector<std::string_view> parts(arguments + 1, arguments + count);
  const auto compare = [&](std::string_view title, const auto& subjects) {
    const auto is_in_title = [&](std::string_view part) {
      return title.find(part) != std::string_view::npos;
    };
    if (!parts.empty() && std::ranges::none_of(parts, is_in_title)) return;
    takt::benchmark::compare(title, subjects());
  };
  double load = 0;
  if (getloadavg(&load, 1) == 1) fmt::print("Load of the machine: {:.1f}\n", load);
  compare("rcl, messages through the middleware", takt::benchmark::rcl_subjects);
#ifdef TAKT_HAS_RCLCPP
  for (const std::size_t threads : {1U, 2U}) {
    for (const bool intra_process : {false, true}) {
      compare(fmt::format("rclcpp, {}messages {}", threads == 1 ? "" : "2 threads, ",
                          intra_process ? "within the process" : "through the middleware"),
              [=] { return takt::benchmark::rclcpp_subjects(threads, intra_process); });
    }
  }
#else
  fmt::print("\nrclcpp: skipped, as CMake found none\n");
#endif
  if (!parts.empty()) return 0;
  fmt::print("\n");
  std::fflush(stdout);
  const int status = std::system("python3 " TAKT_SOURCE_DIR "/benchmarks/executors/rclpy_rows.py");
  if (status != 0) fmt::print("rclpy: skipped, as it could not be run\n");
}
