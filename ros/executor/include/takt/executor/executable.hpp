#pragma once

#include <rcl/wait.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>

#include "takt/base/error.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// What an executor runs: an entity of ROS 2 with its callback. It is a MessageExecutable or a
/// TimerExecutable for executors that are told of releases, a WaitSetEntity for those that wait on
/// a wait set, or both.
class Executable {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  [[nodiscard]] virtual scheduling::Category category() const = 0;

  /// What traces call its callback; null: they do not know it.
  [[nodiscard]] virtual const void* traced_callback() const { return nullptr; }

  /// The entity: executables of different executors for one entity give the same address.
  [[nodiscard]] virtual const void* source() const { return this; }
};

/// An executable that messages activate. Executors that take no wait set learn of each message when
/// it comes, and run the instance that it activates later. Messages either stay in the middleware
/// until their instances run, see room(), or are bound to their instances when the executor learns
/// of them, see admit() and choose().
class MessageExecutable : public virtual Executable {
 public:
  using Arrived = std::function<void(std::size_t count)>;

  /// What admit() did with a message.
  struct Admitted {
    /// Whether it activates one more instance.
    bool activates = false;
    /// The origin that the message carries.
    std::optional<Instant> origin{};
  };

  /// Calls `arrived` for all messages that wait and then for each that comes, on the middleware's
  /// threads or that of the sender; it must not take messages. An empty function ends this.
  [[nodiscard]] virtual Result<void> notify(Arrived arrived) = 0;

  /// How many threads will run it, before anything else.
  virtual void set_workers(std::size_t /*count*/) {}

  /// How many messages stay where they are until their instances run, which then take them, if
  /// instances run in that order. One more makes the oldest give way, so it activates nothing. 0:
  /// messages do not stay, admit() is called for each and choose() for each instance.
  [[nodiscard]] virtual std::size_t room(scheduling::Queueing /*queueing*/) const {
    return std::numeric_limits<std::size_t>::max();
  }

  /// Takes the oldest message from the middleware and keeps it for an instance. Never at the same
  /// time as choose().
  [[nodiscard]] virtual Result<Admitted> admit(scheduling::Queueing /*queueing*/) {
    return Admitted{.activates = true};
  }

  /// Chooses the message of the instance that run(worker) runs next, where it was kept. Otherwise
  /// run() takes it. `newer`: how many newer ones wait on, if the newest instances run first.
  virtual void choose(scheduling::Queueing /*queueing*/, std::size_t /*newer*/,
                      std::size_t /*worker*/) {}

  /// Runs the callback on the executor's thread of that number. It is called several times at once,
  /// with different numbers, only if the executor was told that the callback is reentrant.
  [[nodiscard]] virtual Result<void> run(std::size_t worker) = 0;
};

/// An executable that time activates. Executors that take no wait set move it on at each expiry and
/// run it later.
class TimerExecutable : public virtual Executable {
 public:
  struct Expiry {
    Instant when;
    /// Expiries after it that nobody looked at in time, one `period` apart.
    std::size_t missed = 0;
    Duration period{};
  };

  /// A timer with a shorter period, or none, runs as often as it can: it expires anew when it runs.
  static constexpr Duration shortest_period = std::chrono::microseconds(1);

  /// Expiries that wait to run, at most; a further one activates nothing. So far behind, the
  /// machine or the process stood still, nobody spins the executor, or it cannot keep up.
  static constexpr std::size_t most_waiting = 100;

  [[nodiscard]] scheduling::Category category() const final { return scheduling::Category::timer; }

  /// Time until the next expiry, 0 or less if it is due; none: the timer does not run.
  [[nodiscard]] virtual Result<std::optional<Duration>> time_until_expiry() const = 0;

  /// Moves on to the next expiry, one after the present. The one that was due; none: the timer does
  /// not run any more, or has just been reset.
  [[nodiscard]] virtual Result<std::optional<Expiry>> expire() = 0;

  /// Calls `changed` whenever the next expiry may have come nearer, on the thread that started or
  /// reset the timer. An empty function ends this.
  [[nodiscard]] virtual Result<void> on_change(std::function<void()> changed) = 0;

  /// Runs the callback for an expiry that expire() gave. See MessageExecutable::run().
  [[nodiscard]] virtual Result<void> run(std::size_t worker) = 0;
};

/// What a wait set of rcl can hold.
class WaitSetEntity : public virtual Executable {
 public:
  /// Puts the entity into a wait set that has room for it.
  [[nodiscard]] virtual Result<void> add_to(rcl_wait_set_t& wait_set) = 0;

  /// Whether rcl_wait() found the entity ready in the set to which it was added last.
  [[nodiscard]] virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

  /// Takes the oldest message, request or expiry and runs the callback. Does nothing if there is
  /// none any more, which middlewares allow.
  [[nodiscard]] virtual Result<void> execute() = 0;
};

}  // namespace takt::executor
