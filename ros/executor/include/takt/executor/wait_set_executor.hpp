#pragma once

#include <rcl/wait.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "takt/executor/executable.hpp"
#include "takt/executor/executor.hpp"
#include "takt/executor/guard_condition.hpp"
#include "takt/executor/timer.hpp"
#include "takt/scheduling/dispatch.hpp"
#include "takt/scheduling/wait_set.hpp"

namespace takt::executor {

/// The default executor of ROS 2: one thread, the decisions of the rule ready_set, and a wait set
/// of rcl as its only view of the middleware (ros-llama S-1.2). It leaves the same events
/// in a trace as rclcpp's SingleThreadedExecutor.
class WaitSetExecutor final : public Executor {
 public:
  /// `entities` in the order of registration; they must outlive the executor. `places`: those of
  /// the entities in ready sets; if empty, their category and registration decide.
  [[nodiscard]] static Result<std::unique_ptr<WaitSetExecutor>> create(
      const std::shared_ptr<Context>& context, std::vector<WaitSetEntity*> entities,
      TimerHandling timers, const std::vector<WindowPlace>& places = {});

  ~WaitSetExecutor() override;

  [[nodiscard]] Result<void> spin() override;
  void cancel() override;

 private:
  /// A timer that bypasses the ready set: its expiry is looked for before every decision.
  struct PrivilegedTimer {
    const Timer* timer = nullptr;
    scheduling::LocalIndex callback;
  };

  WaitSetExecutor(std::vector<WaitSetEntity*> entities, std::unique_ptr<GuardCondition> interrupt);

  void start_dispatch(TimerHandling timers, const std::vector<WindowPlace>& places);
  [[nodiscard]] Result<void> allocate_wait_set(Context& context);
  [[nodiscard]] Result<void> run_until_cancelled();
  [[nodiscard]] Result<std::optional<scheduling::Job>> get_next_ready();
  [[nodiscard]] Result<void> wait_for_work();
  void release(scheduling::LocalIndex callback, Instant now);

  std::vector<WaitSetEntity*> entities_;
  scheduling::Dispatch dispatch_;
  std::unique_ptr<GuardCondition> interrupt_;
  rcl_wait_set_t wait_set_ = rcl_get_zero_initialized_wait_set();
  std::vector<PrivilegedTimer> privileged_;
  std::atomic<bool> cancelled_ = false;
};

}  // namespace takt::executor
