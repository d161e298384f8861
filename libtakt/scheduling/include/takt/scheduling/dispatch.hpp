#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/base/ring.hpp"
#include "takt/scheduling/callback_groups.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// An activated instance of a callback that has not started.
struct Instance {
  Instant activation;
  /// The beginning of the work that it is part of, e.g. the release of its chain's timer.
  Instant origin;
  /// For the driver, which finds its data of the instance by it.
  std::size_t payload = 0;
  /// Instances are numbered in the order of their release.
  std::uint64_t number = 0;
};

/// An instance that is to run now.
struct Job {
  LocalIndex callback;
  Instance instance;
  /// Where the newest run first: how many newer ones with its payload wait on.
  std::size_t newer = 0;
  /// The number of the policy that chose it, see Dispatch::replace().
  std::uint64_t generation = 0;
};

/// Everything about an executor but its clock, its threads and its messages: the policy, the
/// instances that wait, polling points, and which callbacks exclude each other on several threads.
/// The simulator and the real executors drive this same class:
///
///   release() for every activated instance;
///   next() whenever a thread is free: the instance that it runs now;
///   completed() when that has run and what it published has been released.
///
/// One thread at a time may call it. Apart from replace(), it allocates only while more instances
/// wait than ever before. Each call takes O(log n) of the number of callbacks or instances, next()
/// at a polling point O(log n) for each callback that it samples, and on several threads next() and
/// completed() O(log n) for each member of the callback's group.
class Dispatch {
 public:
  /// `threads`: how many instances may run at once. Nothing can be released before replace().
  explicit Dispatch(std::size_t threads = 1) : threads_(threads) {}

  /// From now on `policy` decides among `callbacks` callbacks. `own_origin`: deadlines count from
  /// an instance's own activation instead of its origin's. Returns the waiting instances, in the
  /// order of their release; the driver gives back those that shall go on waiting, see wait_on(),
  /// and names the callbacks that are running, see runs_on(). check() must accept the policy.
  std::vector<Instance> replace(std::unique_ptr<Policy> policy, std::size_t callbacks,
                                bool own_origin, const CallbackGroups& groups = {});

  /// Errors: the threads cannot share the policy.
  [[nodiscard]] Result<void> check(const Policy& policy) const;

  /// Gives back an instance that replace() returned, as an instance of this callback.
  void wait_on(LocalIndex index, const Instance& instance);
  /// Tells that an instance chosen by an earlier policy still runs, as this callback.
  void runs_on(LocalIndex callback) {
    if (threads_ > 1) hold_excluded(callback);
  }

  /// At most `depth` instances of the callback may wait; a further one displaces the oldest.
  void limit_queue(LocalIndex callback, std::size_t depth) {
    std::size_t& limit = callbacks_[callback.value()].depth;
    limit = std::min(limit, depth);
  }

  /// Keeps every instance of the callback, even if the policy keeps only the newest.
  void keep_all(LocalIndex callback) {
    Callback& kept = callbacks_[callback.value()];
    if (kept.queueing != Queueing::newest_only) return;
    kept.queueing = Queueing::oldest_first;
    kept.depth = unlimited;
  }

  /// Adds an activated instance. Returns the payload of the instance that it displaces: the oldest
  /// if the queue is full, or the one that waits if the policy keeps only the newest.
  std::optional<std::size_t> release(LocalIndex index, Instant activation, Instant origin,
                                     std::size_t payload);

  /// Sets `job` to the instance that must run now; returns false if none may run. If the policy has
  /// nothing, this is a polling point.
  [[nodiscard]] bool next(Job& job);

  /// The job has run in part and waits again, before all others of its callback. Only with one
  /// thread and a policy that can be interrupted.
  void interrupted(const Job& job) {
    Callback& callback = callbacks_[job.callback.value()];
    callback.waiting.push_front(job.instance);
    ++waiting_beside_;
    policy_->interrupted(job.callback);
  }

  /// The job has run to its end. `present`: its callback in the present description, if the policy
  /// has been replaced since; none if the callback is no longer part of it.
  void completed(const Job& job, std::optional<LocalIndex> present);
  void completed(const Job& job) { completed(job, job.callback); }

  // Policies that go by the time.

  [[nodiscard]] bool goes_by_time() const { return goes_by_time_; }
  /// Tells the policy the time of the next decision, which must never go back.
  void advance(Instant now) { policy_->advance(now); }
  /// See Policy::next_start().
  [[nodiscard]] std::optional<Instant> next_start() const {
    return goes_by_time_ ? policy_->next_start() : std::nullopt;
  }

  // Waiting instances.

  [[nodiscard]] std::size_t threads() const { return threads_; }
  [[nodiscard]] std::size_t waiting() const;
  /// How many of them the callback groups allow to run beside the running instances.
  [[nodiscard]] std::size_t waiting_beside() const { return waiting_beside_; }
  [[nodiscard]] std::size_t waiting(LocalIndex callback) const {
    return callbacks_[callback.value()].waiting.size();
  }
  [[nodiscard]] Queueing queueing(LocalIndex callback) const {
    return callbacks_[callback.value()].queueing;
  }
  /// Whether a running instance excludes the callback, until that job ends.
  [[nodiscard]] bool is_held(LocalIndex callback) const {
    return callbacks_[callback.value()].held > 0;
  }
  /// Whether the callback is admitted at polling points.
  [[nodiscard]] bool is_polled(LocalIndex callback) const {
    return callbacks_[callback.value()].is_polled;
  }
  /// The time from which the deadline of an instance counts.
  [[nodiscard]] Instant deadline_origin(const Instance& instance) const {
    return own_origin_ ? instance.activation : instance.origin;
  }
  /// How many polling points there were.
  [[nodiscard]] std::uint64_t polling_points() const { return polling_points_; }
  /// How many instances have been released, and how many have run to their end.
  [[nodiscard]] std::uint64_t released() const { return released_; }
  [[nodiscard]] std::int64_t completed() const { return completed_; }

 private:
  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  struct Callback {
    Ring<Instance> waiting{8};
    /// How many may wait; 1 if the policy keeps the newest only.
    std::size_t depth = unlimited;
    Queueing queueing = Queueing::oldest_first;
    /// The callbacks that may not run beside it.
    std::vector<LocalIndex> excludes{};
    /// How many running instances exclude it.
    std::size_t held = 0;
    bool is_polled = false;
    /// Whether the policy knows of an instance that a polling point has admitted.
    bool is_sampled = false;
    /// Whether it is in unsampled_.
    bool is_listed = false;
  };

  void admit(LocalIndex index, const Instance& instance);
  void take_newest(Ring<Instance>& waiting, Job& job);
  std::size_t displace(LocalIndex index);
  void list_unsampled(LocalIndex index);
  [[nodiscard]] bool poll(LocalIndex& chosen) { return polls_ && reach_polling_point(chosen); }
  [[nodiscard]] bool reach_polling_point(LocalIndex& chosen);
  void sample();
  void leave_sample(LocalIndex index);
  // With several threads.
  void hold_excluded(LocalIndex callback);
  void resume_excluded(LocalIndex callback);

  std::size_t threads_;
  std::unique_ptr<Policy> policy_;
  bool own_origin_ = false;
  bool goes_by_time_ = false;
  bool polls_ = false;
  std::vector<Callback> callbacks_;
  /// Callbacks that the next polling point looks at: polled callbacks with waiting instances, none
  /// of which the policy knows.
  std::vector<LocalIndex> unsampled_;
  /// The number of waiting instances of callbacks with `held` 0.
  std::size_t waiting_beside_ = 0;
  std::uint64_t released_ = 0;
  std::int64_t completed_ = 0;
  std::uint64_t polling_points_ = 0;
  /// Counts policies.
  std::uint64_t generation_ = 0;
};

// Functions that every instance passes through are inlined into the drivers. GCC would not do so by
// itself, as it counts what is rare.

[[gnu::always_inline]] inline std::optional<std::size_t> Dispatch::release(LocalIndex index,
                                                                           Instant activation,
                                                                           Instant origin,
                                                                           std::size_t payload) {
  const Callback& callback = callbacks_[index.value()];
  std::optional<std::size_t> displaced;
  if (callback.waiting.size() >= callback.depth) displaced = displace(index);
  admit(index,
        {.activation = activation, .origin = origin, .payload = payload, .number = released_++});
  return displaced;
}

inline void Dispatch::admit(LocalIndex index, const Instance& instance) {
  Callback& callback = callbacks_[index.value()];
  callback.waiting.push_back(instance);
  if (callback.held == 0) ++waiting_beside_;
  if (callback.is_polled) {
    list_unsampled(index);
  } else {
    policy_->release(index, instance.activation, deadline_origin(instance));
  }
}

[[gnu::always_inline]] inline bool Dispatch::next(Job& job) {
  while (policy_->next(job.callback) || poll(job.callback)) {
    Callback& callback = callbacks_[job.callback.value()];
    if (callback.waiting.empty()) {
      // The instance was displaced from a full queue after its release.
      policy_->completed(job.callback);
      continue;
    }
    job.generation = generation_;
    if (callback.queueing == Queueing::newest_first) {
      take_newest(callback.waiting, job);
    } else {
      callback.waiting.pop_front(job.instance);
    }
    --waiting_beside_;
    if (callback.is_polled) leave_sample(job.callback);
    if (threads_ > 1) hold_excluded(job.callback);
    return true;
  }
  return false;
}

inline void Dispatch::take_newest(Ring<Instance>& waiting, Job& job) {
  const std::size_t newer = std::min(policy_->newer(), waiting.size() - 1);
  waiting.take(newer, job.instance);
  job.newer = 0;
  for (std::size_t n = 0; n < newer; ++n) {
    if (waiting.back(n).payload == job.instance.payload) ++job.newer;
  }
}

inline void Dispatch::completed(const Job& job, std::optional<LocalIndex> present) {
  if (present && threads_ > 1) resume_excluded(*present);
  // A policy that was set after the job had been chosen does not know of it.
  if (job.generation == generation_) policy_->completed(job.callback);
  ++completed_;
}

}  // namespace takt::scheduling
