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
  /// When that began on whose behalf it runs, e.g. the release of its chain's timer.
  Instant origin;
  /// The driver's: it finds what belongs to the instance by it.
  std::size_t payload = 0;
  /// Instances are numbered in the order of their release.
  std::uint64_t number = 0;
};

/// An instance that is to run now.
struct Job {
  LocalIndex callback;
  Instance instance;
  /// Which policy chose it, see Dispatch::replace().
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
/// One thread at a time may call it. Once memory for as many instances as ever wait has been taken,
/// only replace() allocates. Each call takes O(log n) of the number of callbacks or instances,
/// next() at a polling point O(log n) for each callback that it samples, and on several threads
/// next() and completed() O(log n) for each member of the callback's group.
class Dispatch {
 public:
  /// `threads`: how many instances run at once. Nothing can be released before replace().
  explicit Dispatch(std::size_t threads = 1) : threads_(threads) {}

  /// From now on that policy decides among so many callbacks. `own_origin`: deadlines count from an
  /// instance's own activation instead of its origin's. Returns the instances that wait, in the
  /// order of their release; the driver gives those back that shall wait on, see wait_on(), and
  /// names the callbacks that run, see runs_on(). Only if check() accepts the policy.
  std::vector<Instance> replace(std::unique_ptr<Policy> policy, std::size_t callbacks,
                                bool own_origin, const CallbackGroups& groups = {});

  /// Errors: the threads cannot share the policy.
  [[nodiscard]] Result<void> check(const Policy& policy) const;

  /// Another instance of a callback that returns to it, with its number.
  void wait_on(LocalIndex index, const Instance& instance);
  /// An instance chosen by an earlier policy still runs, as this callback.
  void runs_on(LocalIndex callback) {
    if (threads_ > 1) hold_excluded(callback);
  }

  /// At most so many instances of the callback wait; a further one displaces the oldest.
  void limit_queue(LocalIndex callback, std::size_t depth) {
    std::size_t& limit = callbacks_[callback.value()].depth;
    limit = std::min(limit, depth);
  }

  /// Every instance of the callback waits and runs, also where the policy keeps the newest only.
  void keep_all(LocalIndex callback) {
    Callback& kept = callbacks_[callback.value()];
    if (kept.queueing != Queueing::newest_only) return;
    kept.queueing = Queueing::oldest_first;
    kept.depth = unlimited;
  }

  /// An instance has been activated. Returns the payload of the one that it displaces: the oldest
  /// if the queue is full, and any other if the policy keeps the newest only.
  std::optional<std::size_t> release(LocalIndex index, Instant activation, Instant origin,
                                     std::size_t payload);

  /// Sets `job` to the instance that runs now; false: nothing may run. If the policy has nothing,
  /// this is a polling point.
  [[nodiscard]] bool next(Job& job);

  /// The job has run in part and waits again, before all others of its callback. With one thread,
  /// and a policy that can be interrupted.
  void interrupted(const Job& job) {
    Callback& callback = callbacks_[job.callback.value()];
    callback.waiting.push_front(job.instance);
    ++waiting_beside_;
    policy_->interrupted(job.callback);
  }

  /// The job has run to its end. `present`: its callback in the present description if the policy
  /// has been replaced since; none: it is not part of it.
  void completed(const Job& job, std::optional<LocalIndex> present);
  void completed(const Job& job) { completed(job, job.callback); }

  // Policies that go by the time.

  [[nodiscard]] bool goes_by_time() const { return goes_by_time_; }
  /// Tells the time of the next decision, which never goes back.
  void advance(Instant now) { policy_->advance(now); }
  /// See Policy::next_start().
  [[nodiscard]] std::optional<Instant> next_start() const {
    return goes_by_time_ ? policy_->next_start() : std::nullopt;
  }

  // What waits, and how.

  [[nodiscard]] std::size_t threads() const { return threads_; }
  [[nodiscard]] std::size_t waiting() const;
  /// How many of them may run beside what runs now, for all that groups say.
  [[nodiscard]] std::size_t waiting_beside() const { return waiting_beside_; }
  [[nodiscard]] std::size_t waiting(LocalIndex callback) const {
    return callbacks_[callback.value()].waiting.size();
  }
  [[nodiscard]] Queueing queueing(LocalIndex callback) const {
    return callbacks_[callback.value()].queueing;
  }
  /// Whether what runs keeps the callback from running, until a job ends.
  [[nodiscard]] bool is_held(LocalIndex callback) const {
    return callbacks_[callback.value()].held > 0;
  }
  /// Whether the callback is admitted at polling points.
  [[nodiscard]] bool is_polled(LocalIndex callback) const {
    return callbacks_[callback.value()].is_polled;
  }
  /// From when on the deadline of an instance counts.
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
    /// Those that may not run beside it.
    std::vector<LocalIndex> excludes{};
    /// How many of the instances that run exclude it.
    std::size_t held = 0;
    bool is_polled = false;
    /// The policy knows of an instance that a polling point has admitted.
    bool is_sampled = false;
    /// It is in unsampled_.
    bool is_listed = false;
  };

  void admit(LocalIndex index, const Instance& instance);
  std::size_t displace(LocalIndex index);
  void list_unsampled(LocalIndex index);
  void sample();
  // With several threads.
  void hold_excluded(LocalIndex callback);
  void resume_excluded(LocalIndex callback);

  std::size_t threads_;
  std::unique_ptr<Policy> policy_;
  bool own_origin_ = false;
  bool goes_by_time_ = false;
  bool polls_ = false;
  std::vector<Callback> callbacks_;
  /// Callbacks that the next polling point looks at: polled ones of which an instance waits and
  /// the policy knows of none.
  std::vector<LocalIndex> unsampled_;
  /// Instances that wait of callbacks with `held` 0.
  std::size_t waiting_beside_ = 0;
  std::uint64_t released_ = 0;
  std::int64_t completed_ = 0;
  std::uint64_t polling_points_ = 0;
  /// Counts policies.
  std::uint64_t generation_ = 0;
};

// What every instance passes is inlined into the drivers.

inline std::optional<std::size_t> Dispatch::release(LocalIndex index, Instant activation,
                                                    Instant origin, std::size_t payload) {
  const Callback& callback = callbacks_[index.value()];
  const Instance instance{
      .activation = activation, .origin = origin, .payload = payload, .number = released_++};
  if (callback.waiting.size() < callback.depth) {
    admit(index, instance);
    return std::nullopt;
  }
  const std::size_t displaced = displace(index);
  admit(index, instance);
  return displaced;
}

inline std::size_t Dispatch::displace(LocalIndex index) {
  Callback& callback = callbacks_[index.value()];
  Instance oldest;
  callback.waiting.pop_front(oldest);
  if (callback.held == 0) --waiting_beside_;
  // A polling point's place goes to whichever instance is then the oldest.
  if (!callback.is_polled) policy_->withdraw(index);
  return oldest.payload;
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

inline void Dispatch::list_unsampled(LocalIndex index) {
  Callback& callback = callbacks_[index.value()];
  if (callback.is_sampled || callback.is_listed) return;
  callback.is_listed = true;
  unsampled_.push_back(index);
}

inline bool Dispatch::next(Job& job) {
  while (true) {
    std::optional<LocalIndex> chosen = policy_->next();
    if (!chosen && polls_) {
      ++polling_points_;
      if (unsampled_.empty()) return false;
      sample();
      chosen = policy_->next();
    }
    if (!chosen) return false;
    Callback& callback = callbacks_[chosen->value()];
    if (callback.waiting.empty()) {
      // A full queue has lost it since it was released.
      policy_->completed(*chosen);
      continue;
    }
    job.callback = *chosen;
    job.generation = generation_;
    if (callback.queueing == Queueing::newest_first) {
      callback.waiting.pop_back(job.instance);
    } else {
      callback.waiting.pop_front(job.instance);
    }
    --waiting_beside_;
    if (callback.is_polled) {
      callback.is_sampled = false;
      if (!callback.waiting.empty()) list_unsampled(*chosen);
    }
    if (threads_ > 1) hold_excluded(*chosen);
    return true;
  }
}

inline void Dispatch::completed(const Job& job, std::optional<LocalIndex> present) {
  if (present && threads_ > 1) resume_excluded(*present);
  // A policy that came meanwhile knows nothing of it.
  if (job.generation == generation_) policy_->completed(job.callback);
  ++completed_;
}

}  // namespace takt::scheduling
