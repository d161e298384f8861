#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/observer.hpp"
#include "takt/simulation/options.hpp"
#include "takt/statistics/distribution.hpp"

/// A discrete-event simulation of a timing model in exact integers: executors, driven by the very
/// policies that run in real executors, on threads that are scheduled as Linux schedules them. What
/// it shows is one legal schedule, and so a lower bound of the worst case.
namespace takt::simulation {

using statistics::Distribution;

struct SimulatedCallback {
  std::string id;
  /// From activation to completion, of completed instances.
  Distribution response_time;
  std::int64_t activations = 0;
  /// Expiries of a timer that were never served (MissedPeriods).
  std::int64_t skipped = 0;
  /// Messages that a full queue lost.
  std::int64_t discarded = 0;
};

struct SimulatedChain {
  std::string id;
  /// From the activation of the first callback to the completion of the last, of instances in which
  /// each callback triggers the next, or leaves a message that the next, a timer, samples first.
  Distribution latency;
  /// From an input to the first output that is based on it or on a newer one, of every input: the
  /// activations of the first callback that make it send to the next or, if it is a timer, the
  /// instants right after its expiries.
  Distribution reaction_time;
  /// At every output, how long ago the first callback was activated to read the input that is in
  /// it.
  Distribution data_age;

  /// Those which a goal of that kind is about.
  [[nodiscard]] const Distribution& of(model::GoalKind kind) const {
    return kind == model::GoalKind::latency    ? latency
           : kind == model::GoalKind::reaction ? reaction_time
                                               : data_age;
  }
};

/// The messages of a topic that a callback sends over a link.
struct SimulatedHop {
  std::string link;
  std::string from;
  std::string topic;
  /// From publication to the arrival of the last chunk.
  Distribution response_time;
};

/// A callback instance. Times count from the beginning of the simulation.
struct TimelineEntry {
  model::ExecutorIndex executor;
  std::int64_t thread = 0;
  model::CallbackIndex callback;
  Instant activation;
  Instant start;
  Instant end;
};

struct PollingPoint {
  model::ExecutorIndex executor;
  Instant when;
};

struct Simulation {
  std::vector<SimulatedCallback> callbacks;
  std::vector<SimulatedChain> chains;
  std::vector<SimulatedHop> links;
  /// In the order of completion.
  std::vector<TimelineEntry> timeline;
  /// Whether there were more instances than Options::timeline.
  bool timeline_is_partial = false;
  /// Instants at which an executor without a ready callback looked at its queues.
  std::vector<PollingPoint> polling_points;
  /// Activations, starts and completions.
  std::int64_t events = 0;
  /// Instances that were activated and had not completed at the end.
  std::int64_t unfinished = 0;
  /// Lines about what in the model the simulation could not follow, and what it did not count.
  std::vector<std::string> warnings;
};

/// Called now and then with the time that the simulation has reached.
using Progress = std::function<void(Duration)>;

/// Simulates a valid model (see model::validate). O(log n) per event of the number of callbacks.
/// Errors: options that do not fit the model; more than a million waiting instances.
/// `observer`: is told all of it, unless it is null. The model then has no links.
[[nodiscard]] Result<Simulation> simulate(const model::Model& model, const Options& options,
                                          const Progress& progress = {},
                                          Observer* observer = nullptr);

/// Whether simulate() gave up because too many instances waited.
[[nodiscard]] bool is_overload(const Error& error);

}  // namespace takt::simulation
