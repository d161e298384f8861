#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/executor/executable.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// An activated instance that has not started.
struct Instance {
  /// Of the dispatcher.
  std::size_t entry = 0;
  Instant activation;
  Instant origin;
  /// In the order of release.
  std::uint64_t number = 0;
};

/// An instance that is to run now.
struct Job {
  Instance instance;
  scheduling::CallbackIndex callback;
  /// One of these is its executable.
  MessageExecutable* messages = nullptr;
  TimerExecutable* timer = nullptr;
  /// Of the policy that chose it.
  std::uint64_t generation = 0;
};

/// A thread that runs callbacks, one job after the other. Without one it sleeps until it is given
/// one or told to look for one.
struct Worker {
  std::size_t number = 0;
  /// Valid if has_job.
  Job job{};
  bool has_job = false;
  bool is_idle = false;

  [[nodiscard]] Result<void> run_job() const {
    return job.timer != nullptr ? job.timer->run(number) : job.messages->run(number);
  }
};

}  // namespace takt::executor
