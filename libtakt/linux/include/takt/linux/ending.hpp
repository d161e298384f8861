#pragma once

#include <atomic>
#include <thread>

namespace takt::linux_os {

/// Blocks the signals that ask a program to end (SIGINT, SIGTERM, SIGHUP) in the calling thread and
/// in the threads that it makes from now on. Returns a descriptor that is readable when one of them
/// has come; the caller closes it. To be called before any other thread is made.
[[nodiscard]] int ending_signals();

/// Sets a flag at one of these signals or at the end of standard input, in a thread of its own. For
/// programs that another program starts: they end with that program, however it ends.
class Ending {
 public:
  /// To be made before any other thread, see ending_signals().
  explicit Ending(std::atomic<bool>& stop);
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  void watch();

  std::atomic<bool>& stop_;
  int signals_ = -1;
  std::thread thread_;
};

}  // namespace takt::linux_os
