#pragma once

#include <sys/types.h>

#include <optional>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::shaping {

/// The main thread of a process. No other thread has its number while the process lives, and a
/// descriptor of the process tells whether it does in a microsecond, where the start time in /proc
/// takes as long as several switches.
class MainThread {
 public:
  /// None: the process has ended.
  [[nodiscard]] static std::optional<MainThread> of(pid_t process);

  /// How it was scheduled when it was found.
  [[nodiscard]] const linux_os::ThreadScheduling& former() const { return former_; }
  /// Changes how it is scheduled if the process lives and the kernel permits it. Otherwise its
  /// number may be that of another thread, and is left alone.
  void schedule(const linux_os::ThreadScheduling& scheduling) const;

 private:
  MainThread(pid_t process, Descriptor life, linux_os::ThreadScheduling former)
      : process_(process), life_(std::move(life)), former_(former) {}

  pid_t process_;
  /// Readable when the process has ended.
  Descriptor life_;
  linux_os::ThreadScheduling former_;
};

}  // namespace takt::shaping
