#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/base/ring.hpp"
#include "takt/scheduling/ready_queue.hpp"

/// The events executor and its orders (component-cps 3.4, 3.5): every activated instance enters the
/// ready queue at once, and each decision takes one instance from it. Among equals, the one
/// released first runs first.
namespace takt::scheduling {

/// The events executor as it comes: first released, first run. Each instance is passed over once at
/// most, so decisions take O(log n) on average.
class FifoPolicy final : public Policy {
 public:
  FifoPolicy(std::size_t callbacks, std::size_t capacity)
      : released_(capacity), passed_over_(callbacks, capacity) {}

  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;
  void hold(LocalIndex callback) override { passed_over_.hold(callback); }
  void resume(LocalIndex callback) override { passed_over_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;
  [[nodiscard]] bool choose_passed_over(LocalIndex& chosen);
  [[nodiscard]] bool pass_over(LocalIndex& chosen);

  /// The callbacks of released instances, in the order of their release.
  Ring<LocalIndex> released_;
  /// Instances that came first in released_ while their callbacks were held. All of them are older
  /// than what is there now.
  ReadyQueue<std::uint64_t> passed_over_;
  /// Counts instances that have been passed over.
  std::uint64_t passed_ = 0;
};

/// Fixed priority per callback, non-preemptive but for interrupted(). With rate_monotonic() it is
/// the rate-monotonic executor, with chain_priorities() the chain-priority executor (PiCAS).
class FixedPriorityPolicy final : public Policy {
 public:
  /// A larger priority is more urgent, as with the kernel's SCHED_FIFO.
  FixedPriorityPolicy(std::span<const std::int64_t> priorities, std::size_t capacity);

  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;
  void interrupted(LocalIndex callback) override { queue_.push_front(callback, chosen_); }
  void hold(LocalIndex callback) override { queue_.hold(callback); }
  void resume(LocalIndex callback) override { queue_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  struct Key {
    std::uint64_t rank = 0;
    std::uint64_t released = 0;
    auto operator<=>(const Key&) const = default;
  };

  /// Position of a callback's priority among all, 0 the most urgent.
  std::vector<std::uint64_t> ranks_;
  ReadyQueue<Key> queue_;
  /// The key of the instance chosen last.
  Key chosen_;
  std::uint64_t released_ = 0;
};

/// Earliest deadline first: an instance's deadline is its origin plus the relative deadline of its
/// callback. Deadlines order; a late instance still runs.
class EdfPolicy final : public Policy {
 public:
  EdfPolicy(std::span<const Duration> relative_deadlines, std::size_t capacity);

  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;
  void withdraw(LocalIndex callback) override { queue_.withdraw(callback); }
  void hold(LocalIndex callback) override { queue_.hold(callback); }
  void resume(LocalIndex callback) override { queue_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override { return queue_.pop(chosen); }

  struct Key {
    Instant deadline;
    std::uint64_t released = 0;
    auto operator<=>(const Key&) const = default;
  };

  std::vector<Duration> relative_deadlines_;
  ReadyQueue<Key> queue_;
  std::uint64_t released_ = 0;
};

/// The priorities of callbacks by period: the shorter, the more urgent.
[[nodiscard]] std::vector<std::int64_t> rate_monotonic(std::span<const Duration> periods);

/// The priorities of PiCAS (edf-executor 1.2): every callback of a more important chain before
/// every one of a less important, and within a chain the later callbacks first, so that an instance
/// that has begun is brought to its end. A callback of several chains counts for the most important
/// one; a callback of none is the least urgent of all.
///
/// `chains`: the most important first; `callbacks`: how many callbacks there are.
[[nodiscard]] std::vector<std::int64_t> chain_priorities(
    std::span<const std::vector<LocalIndex>> chains, std::size_t callbacks);

}  // namespace takt::scheduling
