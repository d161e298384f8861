#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/scheduling/ready_queue.hpp"

namespace takt::scheduling {

/// The graph-aware executor (component-cps Part 4, Algorithms 7 and 8): each job of a root callback
/// has a priority, and whatever it triggers, directly or not, inherits it. It schedules an
/// arbitrary acyclic graph as a limited-preemptive, fixed-job-priority scheduler would schedule the
/// unfolded forest (Theorem 2), without knowing the graph.
///
/// It holds for one thread, because it takes the callback that ran last for the one that triggered
/// a child. Children are released by the callback that runs, before the next decision; in
/// publication order, so that the child published to last runs first. An instance of a child takes
/// the child's newest message: the executor binds messages to instances at their release, or its
/// middleware's queues are LIFO. Of several messages that one instance has sent to a child it takes
/// the oldest: which of them a place on the stack stands for makes no difference to any other.
///
/// What comes for a child while nothing runs was triggered by nothing here (Lemma 1): it is a root,
/// and as nobody has declared an urgency for it, it comes after all others, the oldest first.
class GraphAwarePolicy final : public Policy {
 public:
  /// Priorities of the roots, a larger one more urgent; none for children.
  [[nodiscard]] static GraphAwarePolicy fixed_priority(
      std::span<const std::optional<std::int64_t>> priorities, std::size_t capacity);

  /// Relative deadlines of the roots, counted from a job's origin; none for children.
  [[nodiscard]] static GraphAwarePolicy edf(
      std::span<const std::optional<Duration>> relative_deadlines, std::size_t capacity);

  [[nodiscard]] Queueing queueing(LocalIndex callback) const override;
  [[nodiscard]] bool is_sharable() const override { return false; }
  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;
  void withdraw(LocalIndex callback) override;
  void completed(LocalIndex callback) override;
  [[nodiscard]] std::size_t newer() const override { return newer_; }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  /// The smaller, the more urgent: a deadline, or a priority's complement.
  using Urgency = std::int64_t;

  struct Key {
    Urgency urgency = 0;
    std::uint64_t released = 0;
    auto operator<=>(const Key&) const = default;
  };

  struct Child {
    LocalIndex callback;
    Urgency urgency = 0;
    /// How many messages the instance that released it had sent to the callback before.
    std::size_t earlier = 0;
  };

  /// The latest releases of a child.
  struct Released {
    /// The number of the instance that released it last, and how often that one did.
    std::uint64_t by = 0;
    std::size_t times = 0;
    /// How many releases by something outside of this executor still wait.
    std::size_t from_outside = 0;
  };

  GraphAwarePolicy(std::vector<std::optional<Urgency>> roots, bool by_deadline,
                   std::size_t capacity);

  /// Relative deadline or urgency of each root.
  std::vector<std::optional<Urgency>> roots_;
  bool by_deadline_;
  ReadyQueue<Key> root_queue_;
  /// Always in order of urgency, although nothing sorts it: the top is the most urgent (Lemma 5).
  std::vector<Child> child_stack_;
  /// By callback.
  std::vector<Released> released_last_;
  /// The urgency of the instance chosen last.
  Urgency latest_ = 0;
  /// How many have been chosen.
  std::uint64_t chosen_ = 0;
  /// See newer().
  std::size_t newer_ = 0;
  /// Instances that have been chosen and have not completed.
  std::size_t running_ = 0;
  std::uint64_t released_ = 0;
};

}  // namespace takt::scheduling
