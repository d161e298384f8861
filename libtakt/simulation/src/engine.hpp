#pragma once

#include <optional>
#include <span>
#include <vector>

#include "event_queue.hpp"
#include "execution_times.hpp"
#include "instance_pool.hpp"
#include "instance_queue.hpp"
#include "network.hpp"
#include "processors.hpp"
#include "releases.hpp"
#include "supply.hpp"
#include "suspensions.hpp"
#include "takt/base/ring.hpp"
#include "takt/policy/describe.hpp"
#include "takt/scheduling/dispatch.hpp"
#include "takt/simulation/simulate.hpp"

namespace takt::simulation {

/// One simulation: the event loop, and the executors between policies and threads.
///
/// At each instant all that happens is taken in first (completions, messages, activations); then
/// the executors that have a thread without work decide.
class Engine {
 public:
  Engine(const model::Model& model, const Options& options, Observer* observer);

  /// Makes executors, policies and threads. Errors: options that do not fit the model.
  [[nodiscard]] Result<void> prepare();

  [[nodiscard]] Result<Simulation> run(const Progress& progress);

 private:
  using Local = scheduling::LocalIndex;

  /// The messages that wait at a join: per input, in the order of arrival.
  struct JoinInputs {
    std::vector<InstanceQueue> inputs;
    std::size_t complete = 0;
  };

  struct CallbackState {
    CallbackState(std::size_t positions, ExecutionTimes times)
        : waiting(positions), execution_times(std::move(times)) {}

    ExecutorIndex executor;
    Local local;
    InstancePool waiting;
    ExecutionTimes execution_times;
    std::optional<Suspensions> suspensions;
    std::optional<Releases> releases;
    MissedPeriods missed_periods = MissedPeriods::kept;
    std::optional<JoinInputs> join;
    /// How long the interrupted instance, the oldest that waits, still has to run.
    std::optional<Duration> left;
    /// For every sampled link of the vertex, the message that came last.
    std::vector<InstanceQueue> registers;
  };

  struct ExecutorState {
    scheduling::Dispatch dispatch;
    std::vector<CallbackIndex> callbacks;
    std::vector<std::size_t> idle_threads;
    std::optional<ExecutionTimes> overhead;
    /// The time that each timer's expiry and each message takes from its thread; 0 with several
    /// threads.
    Duration release_overhead{};
    /// See model::Executor.
    Duration longest_piece{};
    /// Index into threads_ of its first.
    std::size_t first_thread = 0;
    bool must_decide = false;
    /// The start of the policy for which a wake-up event has been made.
    std::optional<Instant> wake_up;
  };

  struct ThreadState {
    ExecutorIndex executor;
    std::int64_t number = 0;
    std::optional<Supply> supply;
    CallbackIndex callback;
    scheduling::Job job{};
    Activation activation{};
    std::vector<Instant> chain_starts;
    Instant start{};
    /// How long the instance still has to run after the present piece.
    Duration left{};
    /// The instance's suspensions that are still to come, the last one first.
    std::vector<Pause> pauses;
    bool running = false;
    /// It takes releases in, and is not idle although it runs no instance.
    bool releasing = false;
    /// How long releases still keep it busy before it is idle again.
    Duration releases{};
  };

  /// A message on its way.
  struct Message {
    std::size_t link = 0;
    Instant origin{};
    MessageTag tag = 0;
    std::vector<Instant> chain_starts;
  };

  /// What the first callback of a chain reads when it is activated.
  struct Input {
    Instant activation;
    /// When it came, at the earliest: a timer reads at its expiry what may have come right after
    /// the one before; for any other callback the activation is the input.
    Instant since;
  };

  /// The inputs of a chain on which no output is based yet, the oldest first.
  struct Inputs {
    Ring<Input> waiting{8};
    std::optional<Instant> last_expiry;
    /// Inputs that came while too many waited.
    std::int64_t left_out = 0;
  };

  void make_callbacks();
  void make_executor(ExecutorIndex index, const policy::Description& description);
  void make_threads(ExecutorIndex index, std::int64_t count);
  void find_shared_cores();
  [[nodiscard]] ThreadParameters parameters_of(ExecutorIndex index) const;
  void make_processors();
  void schedule_first_events();

  void take_in(const Event& event);
  void schedule_activation(CallbackIndex callback);
  void begin_activation(CallbackIndex callback);
  void repeat_release(std::size_t index);
  void activate(CallbackIndex callback, const Activation& activation,
                std::span<const Instant> chain_starts);
  [[nodiscard]] std::size_t most_inputs() const;
  void note_inputs(CallbackIndex callback, const Activation& activation);
  [[nodiscard]] bool is_triggered(const Link& link, std::size_t via) const;
  void publish(const ThreadState& thread);
  void arrive(std::size_t link, Instant origin, MessageTag tag,
              std::span<const Instant> chain_starts);
  void join(const Link& link, const Activation& activation, std::span<const Instant> chain_starts);
  void release(ExecutorIndex index);
  void end_work(std::size_t thread);
  void suspend(std::size_t thread);
  void resume(std::size_t thread);
  void interrupt(std::size_t thread);
  void complete(std::size_t thread);
  void record_output(std::size_t chain, Instant activation);
  void warn_of_inputs_left_out();

  void decide(ExecutorIndex index);
  [[nodiscard]] bool next(std::size_t thread);
  [[nodiscard]] static ThreadId id_of(const ThreadState& thread) {
    return {.executor = thread.executor, .number = thread.number};
  }
  void start(std::size_t thread);
  void tell_start(const ThreadState& thread, Duration processor_time) const;
  [[nodiscard]] bool publishes_at_start(const ExecutorState& executor) const;
  void run(std::size_t thread, Duration time);
  void run_piece(std::size_t thread, Duration time);
  void work(std::size_t thread, Duration time);
  void sample_inputs(ThreadState& thread);
  void follow_processors();

  void must_decide(ExecutorIndex executor);
  [[nodiscard]] CallbackState& state(CallbackIndex c) { return callbacks_[c.value()]; }

  const model::Model& model_;
  const Options& options_;
  Observer* observer_;
  Network network_;
  Simulation result_;

  std::vector<CallbackState> callbacks_;
  std::vector<ExecutorState> executors_;
  std::vector<ThreadState> threads_;
  /// Shared cores; none: threads have supplies of their own.
  std::optional<Processors> processors_;
  /// By executor, if only those with a fixed priority, and whoever has the same cpu, share cores:
  /// the core; none: its threads have supplies of their own.
  std::vector<std::optional<std::size_t>> shared_cores_;
  std::uint64_t processors_plan_ = 0;
  bool processors_changed_ = false;

  EventQueue events_;
  Instant now_{};
  std::vector<ExecutorIndex> deciding_;
  std::vector<Message> messages_;
  std::vector<std::size_t> free_messages_;
  std::uint64_t sent_ = 0;
  /// Per link, when the last message arrives: messages do not overtake each other.
  std::vector<Instant> last_arrivals_;
  /// How many instances might have sent along each link.
  std::vector<std::uint64_t> might_have_sent_;
  std::vector<Random> delays_;
  /// Per chain.
  std::vector<Inputs> inputs_;
  std::int64_t waiting_ = 0;
  std::vector<Instant> scratch_;
  /// The times of a set that join() completes.
  std::vector<Instant> joined_;
  std::vector<std::size_t> done_;
};

}  // namespace takt::simulation
