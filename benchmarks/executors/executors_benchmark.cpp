// What it costs to dispatch a callback and how soon an executor that sleeps runs one, all executors
// that this machine has in one run: rounds of all of them alternate, and each figure is the median
// of the rounds. A ratio is the median of the rounds' ratios, so that what burdens the machine for
// a while burdens both sides of it.

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

constexpr int rounds = 9;

using Rounds = std::vector<Round>;

double median_microseconds(const Rounds& all, Duration Round::*member) {
  std::vector<double> values;
  for (const Round& round : all) {
    values.push_back(static_cast<double>((round.*member).count()) / 1000);
  }
  return quantile(values, 0.5);
}

double median_ratio(const Rounds& own, const Rounds& others, Duration Round::*member) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < own.size(); ++i) {
    ratios.push_back(static_cast<double>((own[i].*member).count()) /
                     static_cast<double>((others[i].*member).count()));
  }
  return quantile(ratios, 0.5);
}

/// Ratios are to the first subject.
void compare(std::string_view title, const std::vector<std::unique_ptr<Subject>>& subjects) {
  std::vector<Rounds> measured(subjects.size());
  for (int round = 0; round < rounds; ++round) {
    // Each is the first in some round: what comes first finds the caches colder.
    for (std::size_t n = 0; n < subjects.size(); ++n) {
      const std::size_t i = (n + static_cast<std::size_t>(round)) % subjects.size();
      measured[i].push_back(measure(*subjects[i]));
    }
  }
  fmt::print("\n{}\n{:<36} {:>13} {:>6} {:>13} {:>6} {:>12} {:>6} {:>10}\n", title, "executor",
             "dispatch, us", "ratio", "all, us", "ratio", "wake-up, us", "ratio", "99 %, us");
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    fmt::print("{:<36}", subjects[i]->name());
    for (const auto& [member, width] :
         {std::pair(&Round::dispatch, 13), std::pair(&Round::everything, 13),
          std::pair(&Round::wake_up, 12)}) {
      fmt::print(" {:>{}.2f} {:>6.2f}", median_microseconds(measured[i], member), width,
                 median_ratio(measured[i], measured.front(), member));
    }
    fmt::print(" {:>10.1f}\n", median_microseconds(measured[i], &Round::late_wake_up));
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace takt::benchmark

// Arguments: only tables whose titles have one of them in it.
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
