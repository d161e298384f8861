#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/policy/options.hpp"
#include "takt/time/time.hpp"

namespace takt::simulation {

using policy::EdfDeadlines;
using policy::RootOrder;
using policy::SlotOptions;
using policy::TableOptions;

/// How long instances run, within the execution-time curve of their callback.
enum class ExecutionModel {
  /// As long as the curve allows after the instances before.
  worst_case,
  /// Uniformly between a share of ET(1) and ET(1), and never above what the curve allows.
  random,
};

/// When callbacks with an activation of their own are activated, within their activation curve.
enum class ReleaseModel {
  /// All begin together, each as densely as its curve allows.
  synchronous,
  /// Random phases, jitters and, where only a least distance is known, distances.
  random,
};

/// What happens to a timer's expiry while an earlier one has not been served.
enum class MissedPeriods {
  /// It is released as well (events executors: a thread of its own releases timers).
  kept,
  /// It is skipped, on the grid of the period (rcl's timers, called by a waiting executor).
  skipped,
  /// It takes the place of the earlier one (the reading of DAC 2022, edf-executor 1.3).
  replacing,
};

/// In which order default executors run what is ready together, where the model leaves it open
/// (model::Executor::order).
enum class OrderModel {
  /// By category, then by registration.
  registered,
  /// Drawn anew at each polling point.
  random,
};

/// When a callback's messages leave.
enum class Publication { at_end, at_start };

/// Where in its periods a reservation is served, if its executor is alone on its processor.
enum class ReservationModel {
  /// As the constant-bandwidth server of SCHED_DEADLINE does on an idle processor.
  constant_bandwidth,
  /// As late as it may be: the first budget is gone when the simulation begins, all others end with
  /// their deadline. This is what the supply bound function assumes.
  latest,
  /// Anywhere before the deadline.
  random,
};

enum class ThreadPolicy { deadline, fifo, other };

/// How an executor's threads are scheduled on shared cores.
struct ThreadOptions {
  /// None: deadline for a reservation, other for the rest.
  std::optional<ThreadPolicy> policy;
  /// 1 to 99, larger is more urgent. Only fifo reads it.
  std::int64_t priority = 1;
  /// None: as the model says.
  std::optional<std::int64_t> cpu;
};

/// A recorded release: when the executor was told of it, and the activation and origin that it was
/// told.
struct RecordedRelease {
  model::CallbackIndex callback;
  Instant when;
  Instant activation;
  Instant origin;
};

inline constexpr std::int64_t most_cores = 4096;

struct Options : policy::Options {
  Duration duration = std::chrono::seconds{10};
  std::uint64_t seed = 0;
  /// Replaces the kind of every executor except event sources.
  std::optional<model::ExecutorKind> executor;
  ExecutionModel execution = ExecutionModel::worst_case;
  /// The least of random execution times, as a share of ET(1), 0 to 1.
  double shortest = 0.5;
  ReleaseModel releases = ReleaseModel::synchronous;
  /// None: skipped by executors that wait (single_threaded, multi_threaded), kept by others.
  std::optional<MissedPeriods> missed_periods;
  OrderModel order = OrderModel::registered;
  Publication publication = Publication::at_end;
  ReservationModel reservation = ReservationModel::constant_bandwidth;
  /// Cores that all threads share, at most most_cores; none: every thread has a processor of its
  /// own.
  std::optional<std::int64_t> cores;

  // By callback id: first activation; instants of all activations (nothing is skipped);
  // execution times, repeated from the first when they are used up.
  std::map<std::string, Duration> offsets;
  std::map<std::string, std::vector<Duration>> release_times;
  std::map<std::string, std::vector<Duration>> execution_times;
  // By executor id.
  std::map<std::string, ThreadOptions> threads;

  /// Exactly these are released, in this order, `when` ascending. Nothing else is activated, and no
  /// message passes. None: the model says what is released.
  std::optional<std::vector<RecordedRelease>> recorded;

  /// At most so many instances and polling points are listed one by one: the first ones.
  std::size_t timeline = 0;
};

/// Options from a JSON object with the names above; times in nanoseconds. `source` names the
/// document in messages, which name the field.
[[nodiscard]] Result<Options> parse_options(std::string_view json, std::string_view source);

}  // namespace takt::simulation
