#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/policy/describe.hpp"

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
  /// Its position on the executor, and so among the executor's queues.
  std::size_t local = 0;
  model::CallbackKind kind{};
  std::string node;
  /// Neither in the ready set nor waiting for a polling point (ros-llama S-1.2).
  bool privileged = false;
  /// An instance of a callback that excludes this one runs on another thread.
  bool excluded = false;
  /// Oldest first.
  std::vector<Pending> pending;
};

/// An instance to run: where it waits.
struct Selection {
  std::size_t queue = 0;
  std::size_t position = 0;
};

/// What a rule leaves open: one of so many options, 0 where nothing speaks for another.
using Chooser = std::function<std::int64_t(std::int64_t)>;

/// The rule by which one kind of executor selects. One object for one executor.
class ExecutorSemantics {
 public:
  ExecutorSemantics() = default;
  ExecutorSemantics(const ExecutorSemantics&) = delete;
  ExecutorSemantics& operator=(const ExecutorSemantics&) = delete;
  virtual ~ExecutorSemantics() = default;

  /// The last instance of `queue` has just been activated.
  virtual void activated(std::size_t /*queue*/, const Pending& /*instance*/) {}

  /// A thread of the executor is free at `now`: what runs next. `queues` is in the order of
  /// priority of the default executor.
  virtual std::optional<Selection> select(const std::vector<Queue>& queues, std::int64_t now) = 0;
};

/// Runs what may run and comes first in an order of the queues, which need not be that of any kind
/// of executor.
std::unique_ptr<ExecutorSemantics> make_preference(std::vector<std::size_t> order);

/// The semantics of the executor described, which has the order in the model; the description must
/// outlive them.
std::unique_ptr<ExecutorSemantics> make_semantics(const policy::Description& description,
                                                  model::CallbackOrder order, Chooser choose);

}  // namespace takt::brute_force
