#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "takt/linux/thread_identity.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::linux_os {

/// A thread that does nothing until the end of the test, from the constructor's end on; one that
/// naps wakes up every millisecond.
class Sleeper {
 public:
  explicit Sleeper(bool naps = false) : thread_([this, naps] { sleep(naps); }) {
    while (number_ == 0 || (!naps && runs())) std::this_thread::yield();
  }
  ~Sleeper() {
    ended_ = true;
    ended_.notify_all();
    thread_.join();
  }
  [[nodiscard]] ThreadIdentity identity() const { return *identify(getpid(), number_); }

 private:
  /// The kernel may keep a thread that sleeps in its processor's queue for a while, with which it
  /// would move to another processor; whoever reads this file waits until it has left that queue.
  [[nodiscard]] bool runs() const {
    std::string system_call;
    std::ifstream("/proc/self/task/" + std::to_string(number_) + "/syscall") >> system_call;
    return system_call == "running";
  }
  void sleep(bool naps) {
    number_ = this_thread_id();
    while (naps && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    ended_.wait(false);
  }
  std::atomic<pid_t> number_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace takt::linux_os
