#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/base/timer_handling.hpp"
#include "takt/base/window_place.hpp"
#include "takt/scheduling/holdable_heap.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// The default executor of ROS 2 (ros-llama S-1.2): it runs the callbacks of a ready set in an
/// order that their places allow, and refills the set only when it is empty. The set holds one
/// instance of each polled callback at most; privileged callbacks come before it.
///
/// A multi-threaded executor refills it when it is empty but for callbacks that are held.
class WaitSetPolicy final : public Policy {
 public:
  struct Entry {
    Category category = Category::timer;
    WindowPlace place{};
  };

  /// `callbacks`: the executor's callbacks in the order of registration, which decides after place
  /// and category. With `shuffle`, a seed, chance decides after place, anew in each ready set.
  WaitSetPolicy(std::span<const Entry> callbacks, TimerHandling timers,
                std::optional<std::uint64_t> shuffle = std::nullopt);

  [[nodiscard]] Admission admission(LocalIndex callback) const override;
  using Policy::release;
  void release(LocalIndex index, Instant activation, Instant origin) override;
  void hold(LocalIndex callback) override { ready_.hold(callback); }
  void resume(LocalIndex callback) override { ready_.resume(callback); }

 private:
  [[nodiscard]] bool choose(LocalIndex& chosen) override;

  struct Callback {
    bool privileged = false;
    WindowPlace place{};
    std::uint32_t rank = 0;
    std::size_t released = 0;
  };
  /// What decides: whether the callback is polled, its block, and its rank in the block.
  struct Key {
    std::uint64_t block = 0;
    std::uint64_t rank = 0;
    auto operator<=>(const Key&) const = default;
  };

  [[nodiscard]] Key key(LocalIndex callback) const;

  std::vector<Callback> callbacks_;
  /// The ready callbacks.
  HoldableHeap<Key> ready_;
  std::optional<std::uint64_t> shuffle_;
  /// Counts polling points.
  std::uint64_t window_ = 0;
};

}  // namespace takt::scheduling
