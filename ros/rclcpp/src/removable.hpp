#pragma once

#include <atomic>

#include "takt/executor/executable.hpp"

namespace takt::rclcpp {

/// An executable whose instances do not run any more once it has been removed. The executor forgets
/// it later, as it may have to wait for callbacks before.
class Removable : public virtual executor::Executable {
 public:
  /// From any thread. A callback that has begun goes on.
  void remove() { is_removed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool is_removed() const { return is_removed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_removed_ = false;
};

}  // namespace takt::rclcpp
