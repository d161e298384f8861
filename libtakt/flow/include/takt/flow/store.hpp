#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/timer_grid.hpp"
#include "takt/flow/arrival.hpp"
#include "takt/flow/clocks.hpp"
#include "takt/flow/message_times.hpp"

namespace takt::flow {

using execution::InstanceId;
using execution::PublicationId;

/// One run of a callback, reduced to what flows need.
struct Run {
  Instant start;
  Instant end;
  /// For a timer when it was due, without Store::correction(). Else when the message was taken, or
  /// the start if that is not known.
  Instant activation;
  /// The last wait of the thread before the run; both the same where none was recorded.
  Instant wait_begin;
  Instant wait_end;
  PublicationId source = PublicationId::none;
  execution::ObservedCallbackIndex callback;
  execution::ThreadIndex thread;
  bool is_known = false;
  bool first_after_wait = false;
  /// Its executor had kept its message since the activation, and chose it.
  bool was_chosen = false;
  /// Its message came through shared memory.
  bool by_memory = false;
};

/// One message that was sent.
struct Message {
  /// When the program called publish, and when the message went to the middleware.
  Instant begin;
  Instant sent;
  execution::TopicIndex topic;
  std::optional<execution::PublisherIndex> publisher;
  execution::ThreadIndex thread;
  /// The run that sent it, on the same thread.
  InstanceId run = InstanceId::none;
  /// The callback of that run.
  execution::ObservedCallbackIndex callback;
  /// It went through rclcpp's buffers to subscriptions of the same process.
  bool intra_process = false;
  /// See execution::Publication.
  std::int64_t stamp = 0;
};

/// Observes an execution and keeps its runs and messages as rows that are found by their numbers,
/// so that a link is one number: 10 million events take less than 200 MB. What is old can be
/// dropped, which bounds the memory for recordings of any length.
class Store final : public execution::Observer {
 public:
  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_take(const execution::Database& database, const execution::Take& take) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_dds_write(const execution::Database& database, const execution::DdsMessage& message,
                    Instant time) override;
  void on_dds_receive(const execution::Database& database, const execution::DdsMessage& message,
                      execution::ProcessIndex process, Instant time) override;
  void on_late_source(const execution::Database& database, InstanceId instance,
                      PublicationId source) override;

  /// The run, or null if it was dropped or has not ended. O(1), as is all that follows.
  [[nodiscard]] const Run* find(InstanceId id) const {
    const std::uint64_t position = static_cast<std::uint64_t>(id) - first_run_;  // may wrap round
    return position < runs_.size() && runs_[position].is_known ? &runs_[position] : nullptr;
  }
  [[nodiscard]] const Message* find(PublicationId id) const {
    const std::uint64_t position = static_cast<std::uint64_t>(id) - first_message_;
    return position < messages_.size() ? &messages_[position] : nullptr;
  }
  /// The messages that a run took itself, in their order; each is a row without length, like a run
  /// of the subscription's callback.
  [[nodiscard]] std::span<const InstanceId> reads_of(InstanceId reader) const;
  /// The run that took such a message; none for other runs, and where a thread took it to store it.
  [[nodiscard]] InstanceId reader_of(InstanceId read) const;
  [[nodiscard]] bool is_read(InstanceId run) const { return readers_.contains(run); }
  [[nodiscard]] bool has_reads() const { return !readers_.empty(); }
  /// The moments of a run's message, if Fast DDS's events were recorded.
  [[nodiscard]] std::optional<MessageTimes::Times> times(InstanceId id) const;
  /// Numbers from first to one before end; some of them may not be known.
  [[nodiscard]] std::uint64_t first_run() const { return first_run_; }
  [[nodiscard]] std::uint64_t end_run() const { return first_run_ + runs_.size(); }
  [[nodiscard]] std::uint64_t first_message() const { return first_message_; }
  [[nodiscard]] std::uint64_t end_message() const { return first_message_ + messages_.size(); }

  /// The time to add to a timer's activations (TimerGrid).
  [[nodiscard]] Duration correction(execution::ObservedCallbackIndex timer) const;
  [[nodiscard]] const execution::ExecutorFinder& executors() const { return executors_; }
  /// When messages came for the callback of a declared join that no run has handled so far: its
  /// executor keeps them, or lost them.
  [[nodiscard]] std::vector<Instant> unhandled(execution::ObservedCallbackIndex callback) const;

  /// For how long a run was off its processor, where it is not known when.
  [[nodiscard]] Idle idle(InstanceId id) const;

  /// For a run whose message was sent before its reader was made.
  [[nodiscard]] std::optional<Late> late(InstanceId id) const;
  /// Until when a run's message had not come, if messages before it show that (ArrivalOrder).
  [[nodiscard]] std::optional<Instant> not_before(InstanceId id) const;

  /// The clocks of the hosts, as estimated from the messages between them so far.
  [[nodiscard]] const ClockEstimator& clocks() const { return clocks_; }
  /// Converts the times of all rows to the reference clock that were not converted yet. `clocks`:
  /// by host.
  void align(const events::Threads& threads, const std::vector<HostClock>& clocks);

  /// How many rows are kept: runs, messages, and takes that no run has handled.
  [[nodiscard]] std::uint64_t rows() const { return runs_.size() + messages_.size() + unhandled_; }
  /// A moment of the recording: the numbers of the next run, message and take.
  struct Position {
    std::uint64_t run = 0;
    std::uint64_t message = 0;
    std::uint64_t take = 0;
  };
  [[nodiscard]] Position end() const { return {end_run(), end_message(), next_take_}; }
  /// Forgets what was before such a moment.
  void drop_before(const Position& kept);

 private:
  /// The row of a run, made if need be; null for a run that was dropped.
  Run* row(InstanceId id);
  /// Keeps the moments of a run's message, if they are known.
  void keep_times(const execution::Database& database, InstanceId instance,
                  execution::ObservedCallbackIndex callback);
  /// A row is complete: compares the clocks of its ends, and converts its times if its neighbours'
  /// are.
  void settle(const execution::Database& database, InstanceId instance);
  /// Adds a run's message to the estimate of the clocks, if it came from another host.
  void compare_clocks(const execution::Database& database, InstanceId instance,
                      const execution::Publication* sent);

  std::uint64_t first_run_ = 1;
  std::uint64_t first_message_ = 1;
  std::vector<Run> runs_;
  std::vector<Message> messages_;
  std::unordered_map<InstanceId, MessageTimes::Times> times_;
  std::unordered_map<InstanceId, Late> late_;
  std::unordered_map<InstanceId, Instant> not_before_;
  ArrivalOrder arrival_order_;
  std::unordered_map<InstanceId, Idle> idle_;
  std::unordered_map<InstanceId, std::vector<InstanceId>> reads_;
  std::unordered_map<InstanceId, InstanceId> readers_;
  MessageTimes message_times_;
  std::vector<std::optional<execution::TimerGrid>> grids_;
  execution::ExecutorFinder executors_;
  /// One input of a join that the program declared: its messages that no output has used yet.
  struct Member {
    HostIndex host;
    /// Numbers of takes by their time on that host.
    std::map<Instant, std::uint64_t> unhandled;
  };
  /// Converts a time of a host, as far as its clock is known.
  [[nodiscard]] Instant to_reference(HostIndex host, Instant time) const;
  void align_run(const events::Threads& threads, std::uint64_t number);

  /// By callback, as far as links have been declared.
  std::vector<std::optional<Member>> members_;
  std::size_t links_ = 0;
  std::uint64_t unhandled_ = 0;  // of all members
  std::uint64_t next_take_ = 1;
  ClockEstimator clocks_;
  /// By host, as of the last call of align().
  std::vector<HostClock> reference_clocks_;
  /// Rows below these numbers are in times of the reference clock.
  std::uint64_t aligned_run_ = 1;
  std::uint64_t aligned_message_ = 1;
};

}  // namespace takt::flow
