#pragma once

#include <rcl/context.h>
#include <rcl/time.h>

#include <memory>

#include "takt/base/error.hpp"

namespace takt::executor {

/// One process' entrance to ROS 2: rcl's context, and the steady clock of its timers.
class Context {
 public:
  /// Starts ROS 2 with the domain and the middleware that the environment names.
  [[nodiscard]] static Result<std::shared_ptr<Context>> create();

  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] rcl_context_t* handle() { return &context_; }
  [[nodiscard]] rcl_clock_t* clock() { return &clock_; }

 private:
  Context() = default;

  rcl_context_t context_ = rcl_get_zero_initialized_context();
  rcl_clock_t clock_{};
};

}  // namespace takt::executor
