#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "takt/flow/causality.hpp"
#include "takt/flow/thread_states.hpp"

namespace takt::flow {

/// What a flow spends its time on.
enum class Stage : std::uint8_t {
  running,                  ///< a callback ran, or waited for nothing that the trace shows
  preempted,                ///< its thread was ready, but another ran instead
  blocked,                  ///< its thread slept within the callback
  waiting_in_executor,      ///< the message was there, and the executor did not run its callback
  waiting_for_timer,        ///< stored until the timer was due that uses it
  waiting_for_input,        ///< stored until the message came that completes the set
  sending,                  ///< from the call of publish to the middleware or the network
  in_transport,             ///< until the receiver's executor could know of it
  waiting_for_reservation,  ///< its thread was ready, but had used up its reservation
};
inline constexpr std::size_t stages = 9;

/// The stage's name in documents: "running" and so on.
[[nodiscard]] std::string_view to_string(Stage stage);

struct Part {
  Stage stage = Stage::running;
  /// The element of the path at which the time passed, or on the way to it.
  std::uint32_t step = 0;
  Duration duration{};
  /// The run that ran, or behind which it waited; none if nothing ran.
  InstanceId run = InstanceId::none;
  /// The thread that ran instead (ThreadStates::name()).
  std::uint32_t actor = no_actor;
};

/// A run on a path, and how the flow got there.
struct Hop {
  /// The message that it handled; none if that is not in the trace. The message that a root sent is
  /// that of the next hop.
  PublicationId message = PublicationId::none;
  /// None for a root that is a message sent outside of callbacks.
  InstanceId run = InstanceId::none;
  /// The kind of link to the next hop's message; direct if this run sent that message.
  LinkKind kind = LinkKind::direct;
};

/// One instance of a flow: the runs from its source to its sink.
struct Trail {
  std::vector<Hop> hops;
  /// The message with which it ends; none: it ends with a run.
  PublicationId last = PublicationId::none;
};

/// The time of a flow in parts that follow one another without a gap, so that they add up to it.
struct Breakdown {
  /// From the start of the source's run to the end of the sink's.
  std::vector<Part> parts;
  /// The parts from `first` to one before `last` go from the source's message to the start of the
  /// sink's run: they are the flow's latency.
  std::size_t first = 0;
  std::size_t last = 0;

  [[nodiscard]] Duration latency() const;
  [[nodiscard]] Duration span() const;
  [[nodiscard]] std::array<Duration, stages> sums() const;
};

/// Splits the time of a flow into runs and waits (message-flow 3.7):
///
/// - A message that is stored for a timer waits until the timer is due, and then in the executor.
///   One that is stored for another input waits until that was sent, and then as long as that was
///   on its way.
/// - A message is in transport until Fast DDS had received it, if its events were recorded; else as
///   long as the receiving thread waited for work. Then it waits in the executor, behind the runs
///   of its thread or of the executor's other threads.
/// - A run lasts until it calls publish. Without the scheduler's events it is not known when it was
///   preempted; that time counts as running.
class Splitter {
 public:
  Splitter(const History& history, const execution::Database& database, const ThreadStates& states);

  [[nodiscard]] Breakdown split(const Trail& trail) const;

 private:
  struct Cursor;
  void add_wait(Cursor& cursor, Instant until, execution::ThreadIndex thread) const;
  void add_idle(Cursor& cursor, Instant until, execution::ThreadIndex thread) const;
  void add_by_state(Cursor& cursor, Instant until, execution::ThreadIndex thread, Part on) const;
  void add_sending(Cursor& cursor, const Message& message, Instant limit) const;
  void add_delivery(Cursor& cursor, const Hop& hop) const;
  void add_stored(Cursor& cursor, const Hop& hop, const Message& next) const;

  const History& history_;
  const execution::Database& database_;
  const ThreadStates& states_;
  /// The other threads of each thread's executor.
  std::vector<std::vector<execution::ThreadIndex>> peers_;
};

}  // namespace takt::flow
