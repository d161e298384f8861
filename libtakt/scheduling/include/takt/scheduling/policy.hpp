#pragma once

#include <optional>

#include "takt/base/index.hpp"
#include "takt/time/time.hpp"

/// Scheduling policies: what an executor runs next, and nothing else. They know neither ROS nor a
/// clock, so that the simulator and the real executors run the very same objects.
namespace takt::scheduling {

/// A callback's position among those of its executor, in the order of registration.
using CallbackIndex = Index<struct ScheduledCallbackTag>;

/// What an executor's callbacks are, in the order in which the default executor looks for them
/// (ros-llama S-1.2).
enum class Category { timer, subscription, service, client, waitable };

/// When an executor tells its policy of an activated instance.
enum class Admission {
  /// As soon as it is activated.
  at_once,
  /// When next() has found nothing, and then one instance of the callback at most: at a polling
  /// point. Until then the instance waits in its queue, unseen.
  at_polling_point,
};

/// The decision rule of one executor. An executor (simulated or real) drives it so:
///
///   release(c) for every activated instance of c, as admission(c) asks;
///   next(): the callback of which the oldest released instance must run now. None: nothing may
///   run. If some callback is admitted at polling points, this moment is one: release what is
///   pending of these callbacks and ask again. If there is still nothing, wait.
///
/// Implementations allocate nothing after their construction.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  [[nodiscard]] virtual Admission admission(CallbackIndex callback) const = 0;

  /// One more instance of `callback` may run; `activation` is the instant at which it was
  /// activated.
  virtual void release(CallbackIndex callback, Instant activation) = 0;

  /// Takes the next instance to run from the released ones.
  [[nodiscard]] virtual std::optional<CallbackIndex> next() = 0;
};

}  // namespace takt::scheduling
