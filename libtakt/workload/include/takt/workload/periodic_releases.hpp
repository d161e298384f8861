#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "takt/time/time.hpp"

namespace takt::workload {

/// Calls a function periodically on the thread that runs it. A call that is late is made up for:
/// the grid of instants is kept and none is skipped.
class PeriodicReleases {
 public:
  PeriodicReleases(Duration period, std::function<void()> function)
      : period_(period), function_(std::move(function)) {}

  /// Calls the function first one period from now, until stop().
  void run();

  /// Makes run() return after the running call. From any thread, also before run().
  void stop();

 private:
  Duration period_;
  std::function<void()> function_;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stopped_ = false;
};

}  // namespace takt::workload
