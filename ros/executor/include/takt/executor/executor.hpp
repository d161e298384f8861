#pragma once

#include "takt/base/error.hpp"

namespace takt::executor {

/// Runs the callbacks of its executables, one decision at a time.
class Executor {
 public:
  Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;
  virtual ~Executor() = default;

  /// Runs callbacks on the calling thread until cancel(). An error of the middleware ends it too.
  /// It may be called again; what waits then has not been lost.
  [[nodiscard]] virtual Result<void> spin() = 0;

  /// Lets spin() return after the running callback. From any thread, also before spin().
  virtual void cancel() = 0;
};

}  // namespace takt::executor
