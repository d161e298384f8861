#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/flow/arrival.hpp"
#include "takt/flow/stages.hpp"

namespace takt::flow {

/// The other threads of each thread's executor.
class Peers {
 public:
  Peers(const std::vector<execution::Executor>& executors, std::size_t threads);

  [[nodiscard]] std::span<const execution::ThreadIndex> operator[](
      execution::ThreadIndex thread) const {
    return peers_[thread.value()];
  }

 private:
  void add(const std::vector<execution::ThreadIndex>& threads);

  std::vector<std::vector<execution::ThreadIndex>> peers_;
};

/// Splits time into parts that follow one another without a gap (message-flow 3.7), wherever the
/// recording is kept. It goes from a moment on; every function adds the time up to another one, and
/// nothing if that has passed.
///
/// - A message is in transport until Fast DDS had received it, if its events were recorded; else as
///   long as the receiving thread waited for work, and until the one that its publisher sent before
///   it had come. Then it waits in the executor, behind the runs of its thread or of the executor's
///   other threads.
/// - A message through shared memory is there as soon as it is sent. It is on its way as long as
///   the receiving thread waited for work.
/// - A message that was sent before its subscription was made waits for nobody until then: that
///   time is no part.
/// - Without the scheduler's events it is not known when a run slept or was preempted, but for how
///   long in all, if its thread's clock was recorded. As much of that as cannot have been in the
///   rest of the run counts, after the time in which it ran.
///
/// `Rows` is how the recording is read:
///
///   RunId                             names runs; `RunId::none` is none
///   overlapping(thread, begin, end)   the RunIds of a thread's runs that overlap [begin, end), in
///                                     the order of their starts
///   start(run), end(run)              its times
///   off(thread, begin, end)           Offs that overlap [begin, end), in order
///   idle(run)                         for how long it was off its processor, if not by Offs
///   peers(thread)                     the other threads of its executor
template <typename Rows>
class PartSplitter {
 public:
  using RunId = typename Rows::RunId;
  using Part = BasicPart<RunId>;

  /// A message on its way.
  struct Sent {
    Instant sent;
    /// It went through rclcpp's buffers, so it came at once.
    bool intra_process = false;
  };

  /// The rows outlive it.
  PartSplitter(const Rows& rows, Instant begin) : rows_(rows), now_(begin) {}

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
  [[nodiscard]] std::vector<Part> take() { return std::move(parts_); }
  /// How much time was left out.
  [[nodiscard]] Duration left_out() const { return left_out_; }
  /// What follows belongs to the next element of the path.
  void next_step() { ++step_; }

  void until(Instant time, Part part) {
    if (time > now_) {
      part.step = step_;
      part.duration = time - now_;
      parts_.push_back(part);
      now_ = time;
    }
  }

  /// The clocks of two hosts may say that a message was handled before it was sent.
  void back_to(Instant time) {
    if (time < now_) {
      parts_.push_back({Stage::in_transport, step_, time - now_, RunId::none, no_actor});
      now_ = time;
    }
  }

  /// Time in which a thread should run, split by why it did not.
  void by_state(Instant time, execution::ThreadIndex thread, Part on) {
    if (time <= now_) {
      return;
    }
    for (const Off& off : rows_.off(thread, now_, time)) {
      until(std::min(off.begin, time), on);
      Part part = on;
      part.actor = off.actor;
      switch (off.why) {
        case Off::Why::preempted:
          part.stage = Stage::preempted;
          break;
        case Off::Why::reservation:
          part.stage = Stage::waiting_for_reservation;
          break;
        case Off::Why::blocked:
          part.stage = on.stage == Stage::running ? Stage::blocked : on.stage;
          break;
      }
      until(std::min(off.end, time), part);
    }
    until(time, on);
  }

  /// A run, until a time.
  void run(Instant time, execution::ThreadIndex thread, RunId run) {
    if (run != RunId::none && time > now_) {
      const Idle idle = rows_.idle(run);
      const Duration here = time - now_;
      const Duration rest = std::max(rows_.end(run) - rows_.start(run) - here, Duration{0});
      const auto surely = [&](Duration all, Duration most) {
        return std::clamp(all - rest, Duration{0}, most);
      };
      const Duration blocked = surely(idle.blocked, here);
      const Duration ready = surely(idle.ready, here - blocked);
      by_state(time - ready - blocked, thread, {Stage::running, 0, {}, run});
      until(time - ready, {Stage::blocked, 0, {}, run});
      until(time, {Stage::preempted, 0, {}, run});
    }
    by_state(time, thread, {Stage::running, 0, {}, run});
  }

  /// The wait in the executor, behind the runs of its thread meanwhile.
  void wait(Instant time, execution::ThreadIndex thread) {
    if (time <= now_) {
      return;
    }
    for (const RunId ahead : rows_.overlapping(thread, now_, time)) {
      idle(std::min(rows_.start(ahead), time), thread);
      until(std::min(rows_.end(ahead), time), {Stage::waiting_in_executor, 0, {}, ahead});
    }
    idle(time, thread);
  }

  /// The time of a message on its way to a run, and its wait until the run starts. `message`: none
  /// if it is not in the trace.
  void deliver(const std::optional<Sent>& message, const Arrival& arrival, Instant start,
               execution::ThreadIndex thread) {
    if (message) {
      until(std::min(message->sent, start), {Stage::sending});
    }
    switch (arrival.known) {
      case Arrival::Known::due:
        until(std::min(arrival.first, start), {Stage::waiting_for_timer});
        break;
      case Arrival::Known::late:
        leave_out(std::min(arrival.first, start));
        until(std::min(arrival.second, start), {arrival.way});
        break;
      case Arrival::Known::sent:
        until(std::min(arrival.first, start), {Stage::sending});
        until(std::min(arrival.second, start), {arrival.way});
        break;
      case Arrival::Known::waited:
      case Arrival::Known::waited_last:
        if (message && !message->intra_process) {
          until(std::min(arrival.not_before, start), {arrival.way});
        }
        if (message && !message->intra_process && now_ < arrival.second &&
            (arrival.known == Arrival::Known::waited_last || rows_.peers(thread).empty())) {
          wait(arrival.first, thread);
          until(arrival.second, {arrival.way});
        }
        break;
      case Arrival::Known::nothing:
        // The thread's waits were not recorded. But an idle thread runs a message at once, so it
        // had not come before the thread's next run.
        if (message && !message->intra_process && now_ < start) {
          const auto busy = rows_.overlapping(thread, now_, start);
          until(busy.empty() ? start : std::min(rows_.start(busy.front()), start), {arrival.way});
        }
        break;
    }
    wait(start, thread);
  }

 private:
  void leave_out(Instant time) {
    if (time > now_) {
      left_out_ += time - now_;
      now_ = time;
    }
  }

  /// Time in which the thread ran nothing: the other threads of its executor may have run.
  void idle(Instant time, execution::ThreadIndex thread) {
    while (now_ < time) {
      Instant next = time;
      RunId ahead = RunId::none;
      Instant ahead_until = now_;
      for (const execution::ThreadIndex peer : rows_.peers(thread)) {
        for (const RunId other : rows_.overlapping(peer, now_, time)) {
          if (rows_.start(other) > now_) {
            next = std::min(next, rows_.start(other));
            break;  // those that follow start later
          } else if (rows_.end(other) > ahead_until) {
            ahead = other;
            ahead_until = rows_.end(other);
          }
        }
      }
      if (ahead != RunId::none) {
        until(std::min(ahead_until, time), {Stage::waiting_in_executor, 0, {}, ahead});
      } else {
        by_state(next, thread, {Stage::waiting_in_executor});
      }
    }
  }

  const Rows& rows_;
  Instant now_;
  std::uint32_t step_ = 0;
  std::vector<Part> parts_;
  Duration left_out_{};
};

}  // namespace takt::flow
