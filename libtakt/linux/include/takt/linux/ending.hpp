#pragma once

#include <atomic>
#include <thread>

namespace takt::linux_os {

/// Sets a flag at SIGINT, SIGTERM or the end of standard input, in a thread of its own. For
/// programs that other programs start: they end with who started them, however that ends.
class Ending {
 public:
  /// Before any other thread is made: they all inherit that the signals are blocked.
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
