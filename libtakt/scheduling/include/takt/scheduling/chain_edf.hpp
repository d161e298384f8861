#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/scheduling/deadline_rule.hpp"
#include "takt/scheduling/holdable_heap.hpp"
#include "takt/scheduling/waiting_lists.hpp"

namespace takt::scheduling {

/// The deadline-based executor of Al Arafat et al., DAC 2022 (edf-executor 3): all callbacks of a
/// chain instance share one absolute deadline, and a chain has one instance in progress at most.
/// Ties go to the chain given first, then to the earlier callback of the chain.
///
/// If a timer at a chain's head expires again before its instance has started, the newer instance
/// takes the older one's place (1.3).
class ChainEdfPolicy final : public Policy {
 public:
  struct Chain {
    /// The chain's callbacks on this executor, in order. Chains may share their first callback, but
    /// no other.
    std::vector<LocalIndex> callbacks;
    Duration relative_deadline{};
    /// The period of the timer that heads the chain. None if the head is no timer: then each of its
    /// activations is an instance, with its own deadline by either rule.
    std::optional<Duration> period;
  };

  /// Every callback of the executor must be in a chain, if only in one of its own.
  ChainEdfPolicy(std::size_t callbacks, std::span<const Chain> chains, DeadlineRule rule,
                 std::size_t capacity);

  [[nodiscard]] Queueing queueing(LocalIndex callback) const override;
  using Policy::release;
  void release(LocalIndex callback, Instant activation, Instant origin) override;
  void withdraw(LocalIndex callback) override;
  void completed(LocalIndex callback) override;
  void hold(LocalIndex callback) override { ready_.hold(callback); }
  void resume(LocalIndex callback) override { ready_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  /// The order of the ready callbacks.
  struct Key {
    Instant deadline;
    std::size_t chain = 0;
    std::size_t position = 0;
    auto operator<=>(const Key&) const = default;
  };

  struct Progress {
    Chain chain;
    /// Position of the callback that may run next.
    std::size_t position = 0;
    /// Whether that callback is running.
    bool running = false;
    /// The deadline of the instance in progress or, by the frozen rule, of the one to come.
    std::optional<Instant> deadline{};
    /// The origin of the instance in progress.
    Instant origin{};
  };

  struct Member {
    /// The chains that the callback belongs to; more than one only if it is their head.
    std::vector<std::size_t> chains;
    std::size_t position = 0;
    bool timer = false;
  };

  [[nodiscard]] Instant deadline_at_head(const Progress& progress, Instant origin) const;
  [[nodiscard]] bool is_abandoned(const Progress& progress) const;
  void update(LocalIndex callback);

  DeadlineRule rule_;
  std::vector<Progress> chains_;
  std::vector<Member> members_;
  /// Origins of the instances that have been released and not started.
  WaitingLists<Instant> waiting_;
  HoldableHeap<Key> ready_;
};

}  // namespace takt::scheduling
