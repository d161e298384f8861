#pragma once

#include <functional>
#include <latch>
#include <optional>
#include <string>
#include <thread>

#include "takt/base/error.hpp"
#include "takt/executor/announcement.hpp"
#include "takt/executor/thread_settings.hpp"

namespace takt::workload {

/// How a thread is to be scheduled, and how it is announced in traces.
struct ThreadSetup {
  executor::ThreadSettings settings;
  /// None: the thread is no executor.
  std::optional<executor::Announcement> announcement;
  /// It stands for what is outside of the model.
  bool is_outside = false;
};

/// Applies the setup to the calling thread and announces it. An error says why it keeps the
/// scheduling that it had.
[[nodiscard]] Result<void> apply(const ThreadSetup& setup);

/// A thread that is made early and let go later, so that scheduling policies are set when the
/// process has all its threads.
class GatedThread {
 public:
  /// Makes the thread; it waits.
  GatedThread(ThreadSetup setup, std::function<void()> body);

  /// Waits for the end of the body, which must have been told to end. A thread that was never let
  /// go does not run it.
  ~GatedThread();
  GatedThread(const GatedThread&) = delete;
  GatedThread& operator=(const GatedThread&) = delete;

  /// Lets the thread set its scheduling and announce itself. An error says why it keeps the
  /// scheduling that it had; it works all the same. Once.
  [[nodiscard]] Result<void> set_up();

  /// Lets the thread run its body. Once, after set_up().
  void go();

 private:
  void run();

  ThreadSetup setup_;
  std::function<void()> body_;
  Result<void> set_up_result_;
  /// Written before the latch that the thread waits at, and read after it.
  bool sets_up_ = false;
  bool runs_ = false;
  std::latch may_set_up_{1};
  std::latch is_set_up_{1};
  std::latch may_run_{1};
  std::thread thread_;
};

}  // namespace takt::workload
