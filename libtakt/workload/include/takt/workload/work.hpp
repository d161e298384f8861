#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/activation.hpp"
#include "takt/workload/burner.hpp"
#include "takt/workload/cost_sequence.hpp"
#include "takt/workload/join_queue.hpp"
#include "takt/workload/message_log.hpp"

namespace takt::workload {

/// Counts of what a callback has done so far. Read by any thread.
struct WorkCounts {
  /// Instances that ran to completion; at a join, sets that were completed.
  std::uint64_t instances = 0;
  /// Instances that took more processor time than the model allows, in surges too.
  std::uint64_t overruns = 0;
  /// The longest processor time of an instance.
  Duration longest{};
};

/// The work of one callback's instances: each consumes the modelled processor time and, when most
/// of it is gone, sends what the model's edges say. Instances may run on several threads at once.
class Work {
 public:
  /// Sends something, if what activated the instance asks for it. The message, if it is one.
  using Send = std::function<std::optional<SentMessage>(const Activation&)>;

  /// `log`, unless it is null, records the instances as those of `callback`.
  Work(const Burner& burner, std::span<const Duration> execution_time,
       std::optional<JoinQueue> join, std::vector<Send> sends, MessageLog* log = nullptr,
       model::CallbackIndex callback = {});

  /// Instances suspend themselves, too: they sleep in equal parts, spread over their work. Call it
  /// before the first.
  void suspends(const model::Suspension& suspension);

  /// Whether a message of the model, or one from outside, activates the callback: at a join only
  /// the one that completes the set. Call it once for each message, in the order of arrival, on one
  /// thread at a time.
  [[nodiscard]] bool activates(const Activation& activation);

  /// Runs one instance. `answer` is sent after all else.
  void run(const Activation& activation, const Send& answer = {});

  /// From now on instances take this many percent of what the model says: a surge, or a lull.
  void scale(int percent) { percent_ = percent; }

  [[nodiscard]] WorkCounts counts() const;

 private:
  struct Next {
    Duration cost{};
    Duration suspended{};
    /// How often it is suspended.
    std::int64_t times = 0;
    /// The longest time that sending has taken.
    std::optional<Duration> sending;
  };
  [[nodiscard]] Next next();
  /// Burns until the thread's processor time is `until`, and sleeps for `suspended` meanwhile, so
  /// many times.
  void burn_and_sleep(Duration start, Duration until, Duration suspended, std::int64_t times) const;

  const Burner& burner_;
  /// Guards what instances on several threads share.
  std::mutex mutex_;
  CostSequence costs_;
  std::optional<CostSequence> suspensions_;
  std::optional<CostSequence> times_suspended_;
  std::optional<JoinQueue> join_;
  std::vector<Send> sends_;
  MessageLog* log_;
  model::CallbackIndex callback_;
  /// The longest processor time that sending has taken.
  std::optional<Duration> longest_sending_;
  std::atomic<int> percent_ = 100;
  std::atomic<std::uint64_t> instances_ = 0;
  std::atomic<std::uint64_t> overruns_ = 0;
  std::atomic<Duration::rep> longest_ = 0;
};

}  // namespace takt::workload
