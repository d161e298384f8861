#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// Whether timers pass through the ready set like all other callbacks (ROS 2 from Eloquent on), or
/// bypass it and come first (up to Dashing).
enum class TimerHandling { polled, privileged };

/// The default executor of ROS 2 (ros-llama S-1.2): it runs the callbacks of a ready set in the
/// order of their category and registration, and refills the set only when it is empty. The set
/// holds one instance of each polled callback at most; privileged callbacks come before it.
///
/// release() and next() take O(log n) of the number of callbacks.
class WaitSetPolicy final : public Policy {
 public:
  /// `callbacks`: the executor's callbacks in the order of registration.
  WaitSetPolicy(std::span<const Category> callbacks, TimerHandling timers);

  [[nodiscard]] Admission admission(CallbackIndex callback) const override;
  void release(CallbackIndex callback, Instant activation) override;
  [[nodiscard]] std::optional<CallbackIndex> next() override;

 private:
  struct Callback {
    bool privileged = false;
    std::uint32_t rank = 0;
    std::size_t released = 0;
  };

  std::vector<Callback> callbacks_;
  std::vector<CallbackIndex> by_rank_;
  /// Heap of the ranks of callbacks with a released instance, the lowest first.
  std::vector<std::uint32_t> ready_;
};

}  // namespace takt::scheduling
