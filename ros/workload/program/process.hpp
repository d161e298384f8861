#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/workload/message_log.hpp"
#include "takt/workload/plan.hpp"
#include "takt/workload/work.hpp"

namespace takt::workload {

/// One process of a running model: its nodes, and a thread for each executor, event source and
/// activation from outside. Phases: create, start, stop (nothing new is activated), quit.
class Process {
 public:
  /// Whether an executor got its supply.
  struct Supply {
    std::string executor;
    /// Why the executor's thread is not scheduled as its supply asks; empty: it is.
    std::string refusal;
  };

  struct Count {
    std::string callback;
    WorkCounts work;
  };

  /// Makes all entities and threads of `process`; nothing runs yet. All arguments must outlive it.
  /// `log`, unless it is null, records what its nodes handle and send. `priority`: that of
  /// executors without a reservation, under SCHED_FIFO; threads that deliver messages and release
  /// timers are above it. None: all are scheduled as the calling thread.
  [[nodiscard]] static Result<std::unique_ptr<Process>> create(const model::Model& model,
                                                               const WorkloadPlan& plan,
                                                               const WorkloadProcess& process,
                                                               MessageLog* log,
                                                               std::optional<int> priority);

  /// Quits.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Whether the middleware has matched all publishers, subscriptions, services and clients with
  /// those of the other processes, so that nothing that is sent is lost.
  [[nodiscard]] Result<bool> is_connected() const;

  /// Gives the threads their scheduling and lets them and the timers run. Error: a fault of the
  /// middleware, or it was called before.
  [[nodiscard]] Result<std::vector<Supply>> start();

  /// Stops all activations; instances that are activated already still run.
  [[nodiscard]] Result<void> stop();

  /// Ends all threads. A second call does nothing.
  void quit();

  /// The first error that a callback or a thread has met so far.
  [[nodiscard]] Result<void> failure() const;

  [[nodiscard]] std::vector<Count> counts() const;

  /// Has the instances of a callback take this many percent of what the model says. False: the
  /// process has no such callback.
  [[nodiscard]] bool scale(std::string_view callback, int percent);

 private:
  class Implementation;
  explicit Process(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::workload
