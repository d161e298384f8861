#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "takt/live/monitor.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/promises.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

[[nodiscard]] inline double seconds(Duration time) {
  return std::chrono::duration<double>(time).count();
}

/// The state that the manager reports of itself.
struct Status {
  bool dry_run = false;
  bool up = false;  ///< there is a model, and a decision
  std::uint64_t decisions = 0;
  /// Decisions that are not in the log because it could not be written.
  std::uint64_t unlogged = 0;
  /// Processor time of the last decision, from the model to the kernel.
  double planning_seconds = 0;
  /// Of all decisions.
  double planning_seconds_total = 0;
  /// The part of it in which the model is brought up to date.
  double modelling_seconds_total = 0;
  /// Of all threads, from the start of the program.
  double cpu_seconds = 0;
  double running_seconds = 0;
  Decision decision;
  std::optional<Advice> advice{};
  /// The newest, with their times; at most `most_changes`.
  std::deque<std::pair<Instant, std::string>> changes;
  static constexpr std::size_t most_changes = 100;
};

/// The `takt/status` version 1 document.
[[nodiscard]] nlohmann::ordered_json to_json(const Status& status, const Promises& promises,
                                             const live::Monitor& monitor);

/// The same figures in Prometheus' text format.
[[nodiscard]] std::string metrics(const Status& status, const Promises& promises,
                                  const live::Monitor& monitor);

}  // namespace takt::manager
