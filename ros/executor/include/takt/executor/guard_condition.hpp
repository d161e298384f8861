#pragma once

#include <rcl/guard_condition.h>
#include <rcl/wait.h>

#include <memory>

#include "takt/executor/context.hpp"

namespace takt::executor {

/// Wakes a wait from any thread.
class GuardCondition {
 public:
  [[nodiscard]] static Result<std::unique_ptr<GuardCondition>> create(
      std::shared_ptr<Context> context);

  ~GuardCondition();
  GuardCondition(const GuardCondition&) = delete;
  GuardCondition& operator=(const GuardCondition&) = delete;

  void trigger();

  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set);

 private:
  explicit GuardCondition(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  rcl_guard_condition_t guard_condition_ = rcl_get_zero_initialized_guard_condition();
};

}  // namespace takt::executor
