#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/executor/executable.hpp"
#include "takt/scheduling/dispatch.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// An instance that is to run now.
struct Job {
  /// Its payload is the entry of the dispatcher that it activates.
  scheduling::Job chosen;
  /// One of these is its executable.
  MessageExecutable* messages = nullptr;
  TimerExecutable* timer = nullptr;

  [[nodiscard]] std::size_t entry() const { return chosen.instance.payload; }
};

/// A thread that runs callbacks, one job after the other. Without one it sleeps until it is given
/// one or told to look for one.
struct Worker {
  std::size_t number = 0;
  /// Valid if has_job.
  Job job{};
  bool has_job = false;

  [[nodiscard]] Result<void> run_job() const {
    return job.timer != nullptr ? job.timer->run(number) : job.messages->run(number);
  }
};

}  // namespace takt::executor
