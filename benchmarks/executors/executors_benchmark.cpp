// What it costs to dispatch a callback and how soon an executor that sleeps runs one, all executors
// that this machine has in one run: rounds of all of them alternate, and each figure is the median
// of the rounds.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure.hpp"
#include "rcl_subjects.hpp"
#ifdef TAKT_HAS_RCLCPP
#include "rclcpp_subjects.hpp"
#endif

namespace takt::benchmark {
namespace {

constexpr int rounds = 9;

Duration median(const std::vector<Round>& all, Duration Round::*member) {
  std::vector<Duration> values;
  for (const Round& round : all) values.push_back(round.*member);
  return quantile(values, 0.5);
}

double microseconds(Duration duration) { return static_cast<double>(duration.count()) / 1000; }

/// Ratios are to the first subject.
void compare(const char* title, const std::vector<std::unique_ptr<Subject>>& subjects) {
  std::vector<std::vector<Round>> measured(subjects.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      measured[i].push_back(measure(*subjects[i]));
    }
  }
  fmt::print("\n{}\n{:<36} {:>13} {:>6} {:>13} {:>6} {:>12} {:>6} {:>10}\n", title, "executor",
             "dispatch, us", "ratio", "all, us", "ratio", "wake-up, us", "ratio", "99 %, us");
  const auto first = [&](Duration Round::*member) { return median(measured.front(), member); };
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    fmt::print("{:<36}", subjects[i]->name());
    for (const auto& [member, width] :
         {std::pair(&Round::dispatch, 13), std::pair(&Round::everything, 13),
          std::pair(&Round::wake_up, 12)}) {
      const Duration own = median(measured[i], member);
      fmt::print(" {:>{}.2f} {:>6.2f}", microseconds(own), width,
                 microseconds(own) / microseconds(first(member)));
    }
    fmt::print(" {:>10.1f}\n", microseconds(median(measured[i], &Round::late_wake_up)));
  }
}

}  // namespace
}  // namespace takt::benchmark

int main() {
  using takt::benchmark::compare;
  double load = 0;
  if (getloadavg(&load, 1) == 1) fmt::print("Load of the machine: {:.1f}\n", load);
  compare("rcl, messages through the middleware", takt::benchmark::rcl_subjects());
#ifdef TAKT_HAS_RCLCPP
  compare("rclcpp, messages through the middleware", takt::benchmark::rclcpp_subjects(false));
  compare("rclcpp, messages within the process", takt::benchmark::rclcpp_subjects(true));
#else
  fmt::print("\nrclcpp: skipped, as CMake found none\n");
#endif
  fmt::print("\n");
  std::fflush(stdout);
  const int status = std::system("python3 " TAKT_SOURCE_DIR "/benchmarks/executors/rclpy_rows.py");
  if (status != 0) fmt::print("rclpy: skipped, as it could not be run\n");
}
