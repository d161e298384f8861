#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/model/model.hpp"

namespace takt::simulation {

/// The observer's own name of a message. It comes back when the message starts an instance.
using MessageTag = std::uint64_t;

/// A thread of a simulated executor.
struct ThreadId {
  model::ExecutorIndex executor;
  std::int64_t number = 0;
};

/// An instance that starts.
struct StartedInstance {
  model::CallbackIndex callback;
  /// The position in the model of the edge whose message activated it; none: something outside.
  static constexpr std::size_t outside = static_cast<std::size_t>(-1);
  std::size_t edge = outside;
  MessageTag message = 0;
  /// The processor time that it will take, and how often and for how long it will suspend itself.
  Duration processor_time{};
  std::int64_t suspensions = 0;
  Duration suspended{};
};

/// Is told of a simulation as it happens, in the order in which it happens.
class Observer {
 public:
  virtual ~Observer() = default;

  /// Something outside the model activates the callback: a timer expires, a message comes.
  virtual MessageTag on_outside(Instant now, model::CallbackIndex callback) = 0;
  /// An instance waits for its executor from now on.
  virtual void on_release(model::CallbackIndex callback, Instant activation, Instant origin) = 0;
  /// A message has come to a join, and completes a set or waits for the other inputs.
  virtual void on_input(std::size_t edge, MessageTag message, bool completes) = 0;
  /// A thread without work asks for an instance. `polls`: its executor looked for work first.
  virtual void on_decision(Instant now, ThreadId thread, bool polls, bool chosen) = 0;
  virtual void on_start(Instant now, ThreadId thread, const StartedInstance& instance) = 0;
  /// The instance that the thread runs sends a message along an edge.
  virtual MessageTag on_send(Instant now, ThreadId thread, std::size_t edge) = 0;
  /// It ends, after it has sent all its messages.
  virtual void on_end(Instant now, ThreadId thread) = 0;
};

}  // namespace takt::simulation
