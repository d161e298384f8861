#pragma once

#include <cassert>
#include <optional>

#include "takt/base/index.hpp"
#include "takt/time/time.hpp"

/// Scheduling policies: what an executor runs next, and nothing else. They know neither ROS nor a
/// clock, so that the simulator and the real executors run the very same objects.
namespace takt::scheduling {

/// A callback, as its position among those of its executor.
using LocalIndex = Index<struct LocalCallbackTag>;

/// The categories of callbacks, in the order in which the default executor looks for them
/// (ros-llama S-1.2).
enum class Category { timer, subscription, service, client, waitable };

/// When an executor tells its policy of an activated instance.
enum class Admission {
  /// As soon as it is activated.
  at_once,
  /// At a polling point: when next() has found nothing, and then at most one instance of the
  /// callback. Until then the policy does not know of the instance, which waits in its queue.
  at_polling_point,
};

/// Which of a callback's released instances runs first, and so which message it takes.
enum class Queueing {
  oldest_first,
  /// The newest; but see Policy::newer().
  newest_first,
  /// A release replaces an instance that has not started: the older one is dropped.
  newest_only,
};

/// The decision rule of one executor. An executor (simulated or real) drives it so:
///
///   release(c) for every activated instance of c, as admission(c) asks;
///   next(): the callback c that must run now; queueing(c) says which of its released instances.
///   None: nothing may run. If some callback is admitted at polling points, this moment is one:
///   release what is pending of these callbacks and ask again. If there is still nothing, wait.
///   completed(c) when that instance has run and what it published has been released.
///
/// Implementations allocate after their construction only if more instances wait at once than they
/// were made for. All functions take at most O(log n) of the number of callbacks or instances.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  [[nodiscard]] virtual Admission admission(LocalIndex /*callback*/) const {
    return Admission::at_once;
  }

  [[nodiscard]] virtual Queueing queueing(LocalIndex /*callback*/) const {
    return Queueing::oldest_first;
  }

  /// One more instance of `callback` may run, activated at `activation` on behalf of something that
  /// began at `origin`, e.g. the release of the chain's timer. Deadlines count from the origin.
  virtual void release(LocalIndex callback, Instant activation, Instant origin) = 0;

  /// An instance that is its own origin.
  void release(LocalIndex callback, Instant activation) {
    release(callback, activation, activation);
  }

  /// A further instance of `callback` displaces the oldest released one from its full queue. Where
  /// the order depends on when an instance was released, as deadlines do, the policy forgets that
  /// one. Other policies may leave its place to the next instance, as rclcpp's events executor
  /// does: next() then gives the callback once more than instances wait.
  virtual void withdraw(LocalIndex /*callback*/) {}

  /// Takes the next instance to run from the released ones.
  [[nodiscard]] std::optional<LocalIndex> next() {
    LocalIndex chosen;
    return next(chosen) ? std::optional(chosen) : std::nullopt;
  }
  /// The same, into `chosen`; false: nothing may run. Every decision passes here, and GCC returns
  /// an optional of such an index through memory, at the price of a stalled load.
  [[nodiscard]] bool next(LocalIndex& chosen) { return choose(chosen); }

  /// How many newer instances of its callback wait that came for the same reason as the one that
  /// next() gave last, if the newest run first: they run after it, so that what one callback sends
  /// stays in its order.
  [[nodiscard]] virtual std::size_t newer() const { return 0; }

  /// Tells a policy that goes by the time (see next_start()) the time of the next decision, which
  /// never goes back.
  virtual void advance(Instant /*now*/) {}

  /// The next time after the last advance() at which time alone may make an instance eligible.
  /// None: the policy does not go by the time.
  [[nodiscard]] virtual std::optional<Instant> next_start() const { return std::nullopt; }

  /// The instance of `callback` that next() gave last has run in part, and waits again at its old
  /// place. Only where an executor's instances run in pieces.
  virtual void interrupted(LocalIndex /*callback*/) { assert(false && "it interrupts nothing"); }

  /// The instance of `callback` that next() gave has run to its end.
  virtual void completed(LocalIndex /*callback*/) {}

  /// Whether several threads of an executor may share it, under a lock. While a callback runs, the
  /// callbacks that it excludes, such as those of its mutually exclusive group, are then held.
  [[nodiscard]] virtual bool is_sharable() const { return true; }

  /// Until resume(), next() passes over `callback`; it loses neither instances nor its place. This
  /// is called only for sharable policies.
  virtual void hold(LocalIndex /*callback*/) { assert(false && "it holds nothing"); }
  virtual void resume(LocalIndex /*callback*/) { assert(false && "it holds nothing"); }

 private:
  /// Implements next().
  [[nodiscard]] virtual bool choose(LocalIndex& chosen) = 0;
};

}  // namespace takt::scheduling
