#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <rclcpp/clock.hpp>
#include <rclcpp/timer.hpp>

#include "removable.hpp"
#include "takt/executor/executable.hpp"
#include "takt/executor/expiry_times.hpp"

namespace takt::rclcpp {

/// Makes a timer an executable. It may go at any time, and its instances with it; instances of a
/// timer that is cancelled or reset meanwhile do not run.
class TimerAdapter final : public executor::TimerExecutable, public Removable {
 public:
  explicit TimerAdapter(const std::shared_ptr<::rclcpp::TimerBase>& timer);

  [[nodiscard]] Duration period() const { return period_; }

  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const override;
  [[nodiscard]] Result<std::optional<Expiry>> expire() override;
  [[nodiscard]] Result<void> on_change(std::function<void()> changed) override;
  [[nodiscard]] Result<void> run(std::size_t worker) override;
  [[nodiscard]] const void* source() const override { return source_; }

 private:
  [[nodiscard]] bool is_simulated() const;
  [[nodiscard]] bool is_continuous() const { return period_ < shortest_period; }

  std::weak_ptr<::rclcpp::TimerBase> timer_;
  const void* source_;
  Duration period_;
  std::shared_ptr<::rclcpp::Clock> clock_;
  /// Tells of steps of a clock that is not the machine's.
  std::shared_ptr<::rclcpp::JumpHandler> jumps_;
  /// The expiry of a continuous timer has not run yet.
  std::atomic<bool> waits_ = false;
  executor::ExpiryTimes expiries_;
  /// Guards what follows.
  std::mutex mutex_;
  std::function<void()> changed_;
};

}  // namespace takt::rclcpp
