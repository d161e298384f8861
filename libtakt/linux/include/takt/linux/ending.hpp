#pragma once

#include <atomic>
#include <thread>

namespace takt::linux_os {

/// From now on the signals that ask a program to end (SIGINT, SIGTERM, SIGHUP) are blocked in the
/// calling thread and in those that it makes. Returns a descriptor that is readable when one of
/// them has come, for the caller to close. Before any other thread is made.
[[nodiscard]] int ending_signals();

/// Sets a flag at one of these signals or at the end of standard input, in a thread of its own.
/// For programs that other programs start: they end with who started them, however that ends.
class Ending {
 public:
  /// Before any other thread is made, see ending_signals().
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
