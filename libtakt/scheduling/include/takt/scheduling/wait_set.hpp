#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/scheduling/holdable_heap.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// Whether timers pass through the ready set like all other callbacks (ROS 2 from Eloquent on), or
/// bypass it and come first (up to Dashing).
enum class TimerHandling { polled, privileged };

/// The default executor of ROS 2 (ros-llama S-1.2): it runs the callbacks of a ready set in the
/// order of their category and registration, and refills the set only when it is empty. The set
/// holds one instance of each polled callback at most; privileged callbacks come before it.
///
/// A multi-threaded executor refills it when it is empty but for callbacks that are held.
class WaitSetPolicy final : public Policy {
 public:
  /// `callbacks`: the executor's callbacks in the order of registration.
  WaitSetPolicy(std::span<const Category> callbacks, TimerHandling timers);

  [[nodiscard]] Admission admission(LocalIndex callback) const override;
  using Policy::release;
  void release(LocalIndex index, Instant activation, Instant origin) override;
  void hold(LocalIndex callback) override { ready_.hold(callback); }
  void resume(LocalIndex callback) override { ready_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  struct Callback {
    bool privileged = false;
    std::uint32_t rank = 0;
    std::size_t released = 0;
  };

  std::vector<Callback> callbacks_;
  /// The ready callbacks, by rank.
  HoldableHeap<std::uint32_t> ready_;
};

}  // namespace takt::scheduling
