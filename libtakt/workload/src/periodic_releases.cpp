#include "takt/workload/periodic_releases.hpp"

#include <chrono>

namespace takt::workload {

void PeriodicReleases::run() {
  auto release = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (true) {
    release += period_;
    if (stopping_.wait_until(lock, release, [&] { return stopped_; })) return;
    lock.unlock();
    function_();
    lock.lock();
  }
}

void PeriodicReleases::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
}

}  // namespace takt::workload
