#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "takt/model/model.hpp"

namespace takt::brute_force {

/// An activated instance of a callback that waits for its executor.
struct Pending {
  std::int64_t activation = 0;
  /// The activation of the source that led to this one.
  std::int64_t origin = 0;
  /// Instances are numbered in the order of their activations.
  std::size_t instance = 0;
};

/// A callback as its executor sees it.
struct Queue {
  model::CallbackIndex callback;
  /// Neither in the ready set nor waiting for a polling point (ros-llama S-1.2).
  bool privileged = false;
  /// Oldest first.
  std::vector<Pending> pending;
};

/// The rule by which one kind of executor selects. One object for one executor.
class ExecutorSemantics {
 public:
  ExecutorSemantics() = default;
  ExecutorSemantics(const ExecutorSemantics&) = delete;
  ExecutorSemantics& operator=(const ExecutorSemantics&) = delete;
  virtual ~ExecutorSemantics() = default;

  /// The executor is free: the queue of which the oldest instance runs next. `queues` is in the
  /// order of priority.
  virtual std::optional<std::size_t> select(const std::vector<Queue>& queues) = 0;
};

/// The semantics of that executor of the model.
std::unique_ptr<ExecutorSemantics> make_semantics(const model::Model& model,
                                                  model::ExecutorIndex executor);

}  // namespace takt::brute_force
