#pragma once

#include <rcl/wait.h>

#include "takt/base/error.hpp"
#include "takt/scheduling/policy.hpp"

namespace takt::executor {

/// What an executor runs: an entity of ROS 2 with its callback.
class Executable {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  [[nodiscard]] virtual scheduling::Category category() const = 0;

  /// Puts the entity into a wait set that has room for it.
  [[nodiscard]] virtual Result<void> add_to(rcl_wait_set_t& wait_set) = 0;

  /// Whether rcl_wait() found the entity ready in the set to which it was added last.
  [[nodiscard]] virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

  /// Takes the oldest message, request or expiry and runs the callback. Does nothing if there is
  /// none any more, which middlewares allow.
  [[nodiscard]] virtual Result<void> execute() = 0;
};

}  // namespace takt::executor
