#pragma once

#include <rcl/wait.h>

#include <functional>
#include <optional>

#include "takt/base/error.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// What an executor runs: an entity of ROS 2 with its callback.
class Executable {
 public:
  Executable() = default;
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  [[nodiscard]] virtual scheduling::Category category() const = 0;

  /// Puts the entity into a wait set that has room for it.
  [[nodiscard]] virtual Result<void> add_to(rcl_wait_set_t& wait_set) = 0;

  /// Whether rcl_wait() found the entity ready in the set to which it was added last.
  [[nodiscard]] virtual bool is_ready_in(const rcl_wait_set_t& wait_set) const = 0;

  /// Takes the oldest message, request or expiry and runs the callback. Does nothing if there is
  /// none any more, which middlewares allow.
  [[nodiscard]] virtual Result<void> execute() = 0;
};

/// An executable that messages activate. Executors that take no wait set learn of each message when
/// it comes, bind it to the instance that it activates, and run that instance later.
class MessageExecutable : public Executable {
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

  /// Takes the oldest message from the middleware and keeps it for an instance. Entities that leave
  /// their messages in the middleware until they run count it only.
  [[nodiscard]] virtual Result<Admitted> admit() { return Admitted{.activates = true}; }

  /// Chooses the message of the instance that run_chosen() runs next. Not while another one runs.
  virtual void choose(scheduling::Queueing /*queueing*/) {}

  [[nodiscard]] virtual Result<void> run_chosen() { return execute(); }
};

}  // namespace takt::executor
