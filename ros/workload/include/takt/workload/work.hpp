#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/burner.hpp"
#include "takt/workload/cost_sequence.hpp"
#include "takt/workload/join_queue.hpp"

namespace takt::workload {

/// What a callback has done so far. Read by any thread.
struct WorkCounts {
  /// Instances that ran to completion; at a join, sets that were completed.
  std::uint64_t instances = 0;
  /// Instances that took more processor time than the model allows.
  std::uint64_t overruns = 0;
  /// The longest processor time of an instance.
  Duration longest{};
};

/// What the instances of one callback do: consume the modelled processor time and, when most of it
/// is gone, send what the model's edges say. Instances may run on several threads at once.
class Work {
 public:
  /// Sends something, if an activation by `source` (none: from outside) asks for it.
  using Send = std::function<void(std::optional<model::CallbackIndex> source)>;

  Work(const Burner& burner, std::span<const Duration> execution_time,
       std::optional<JoinQueue> join, std::vector<Send> sends);

  /// Whether a message of `source`, or one from outside, activates the callback: at a join only the
  /// one that completes the set. Call it once for each message, in the order of arrival, on one
  /// thread at a time.
  [[nodiscard]] bool activates(std::optional<model::CallbackIndex> source);

  /// Runs one instance that `source`, or something outside, activated.
  void run(std::optional<model::CallbackIndex> source);

  [[nodiscard]] WorkCounts counts() const;

 private:
  /// The next instance's execution time, and what sending has taken at most.
  [[nodiscard]] std::pair<Duration, std::optional<Duration>> next_cost();

  const Burner& burner_;
  /// Guards what instances on several threads share.
  std::mutex mutex_;
  CostSequence costs_;
  std::optional<JoinQueue> join_;
  std::vector<Send> sends_;
  /// Processor time that sending has taken at most.
  std::optional<Duration> longest_sending_;
  std::atomic<std::uint64_t> instances_ = 0;
  std::atomic<std::uint64_t> overruns_ = 0;
  std::atomic<Duration::rep> longest_ = 0;
};

}  // namespace takt::workload
