#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/execution/curves.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/timer_grid.hpp"
#include "takt/execution/windows.hpp"
#include "takt/flow/instance_window.hpp"
#include "takt/flow/matching.hpp"
#include "takt/flow/message_times.hpp"
#include "takt/flow/thread_states.hpp"
#include "takt/links/held_messages.hpp"
#include "takt/model/model.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::flow {

using statistics::Distribution;

/// The measured times of a model's callbacks, chains and edges, each by its position in the model.
/// Start-up is left out (Observer::on_steady_state).
struct Measurement {
  /// A timer is activated when it is due; a callback with a message is activated when the message
  /// was published, plus the longest travel (else delay) of the model's edge, but at the latest
  /// when it was taken; a callback whose message is not in the trace is activated when it took the
  /// message, or when it starts if that is not known. Response time is completion minus activation.
  struct Callback {
    std::uint64_t count = 0;
    Distribution execution_time;
    /// How long instances suspended themselves, and the most suspensions of one: of those of which
    /// it is known.
    Distribution suspended;
    std::int64_t most_suspensions = 0;
    Distribution response_time;
    /// Of its activations of its own, those that no edge of the model brings.
    execution::DistanceCurve activations;
    /// How much longer than shown the spans of several activations may have been.
    Duration unseen{};
  };
  /// Latency is completion of the last minus activation of the first instance; a chain with an
  /// end_topic ends with the last instance's last publication on it, and an instance without one
  /// ends no chain. Instances are linked by the messages that triggered them, or that they took. A
  /// timer that samples another callback is linked to the newest instance of it that ended before
  /// and that the timer has not read yet. A thread to which callbacks hand messages takes them in
  /// order, one for each that it publishes; where it has fallen behind for longer, the newest. So
  /// does a callback that passes on what waits for a transform: the oldest, or the one with the
  /// stamp of what it publishes. Time in which there was no subscription yet that could read a
  /// message does not count.
  ///
  /// A chain whose goal is about another time (model::GoalKind) has that one in place of latency.
  /// Reactions count from each activation of the first callback which makes it send to the next, or
  /// for a timer from the one before, as an input may just have missed that; they end with the
  /// first end that this activation, or a newer one, leads to. Ages end with every end, and count
  /// from the newest activation that led to what was read, also if it was read before.
  struct Chain {
    Distribution latency;
    /// The longest instance: its last run, and when it began without the correction.
    struct Longest {
      execution::InstanceId run = execution::InstanceId::none;
      Instant since;
      Duration latency{};
    } longest;
    /// The instances of start-up, which count nowhere else. Without a listener.
    struct StartUp {
      std::uint64_t count = 0;
      Duration longest{};
    } start_up;
    std::uint64_t begun = 0;
    /// Beginnings that were followed to an end; several ends may have the same beginning.
    std::uint64_t completed = 0;

    /// Beginnings for which no end was found. One that ended just as start-up did may have been
    /// completed without having been counted as begun.
    [[nodiscard]] std::uint64_t incomplete() const { return begun - std::min(begun, completed); }
  };
  struct Edge {
    std::uint64_t count = 0;
    /// Those that came through shared memory.
    std::uint64_t by_memory = 0;
    /// The most that one run of the sender sent, of those that came one after another.
    std::uint64_t most_of_one_run = 0;
    /// Of messages that the receiver takes itself: the runs in which it took some, and those in
    /// which it left a newer one in the queue, which was there by the model's delay.
    std::uint64_t takes = 0;
    std::uint64_t left = 0;
    /// From a publication to the end of the executor's wait that its arrival ended.
    Distribution delay;
    /// If dds:write and dds:receive were recorded, they split the time of a message: from
    /// rmw_publish to dds:write, from there to dds:receive, and from there to rmw_take.
    Distribution sending;
    Distribution transport;
    Distribution waiting;
  };
  /// A callback instance of the part of the run that documents show as a timeline.
  struct Shown {
    model::CallbackIndex callback;
    Instant activation;
    Instant start;
    Instant end;
  };

  std::vector<Callback> callbacks;
  std::vector<Chain> chains;
  std::vector<Edge> edges;
  /// By executor, how its ready sets agree with the model's order.
  std::vector<execution::WindowCheck::Counts> windows;
  /// The longest time that a thread of an executor was ready to run and had no processor.
  struct ProcessorWait {
    Duration longest{};
    /// Who ran when it began; empty if that is not known.
    std::string while_ran;
  };
  /// By executor; empty without the scheduler's events.
  std::vector<ProcessorWait> processor_waits;
  std::vector<Shown> timeline;
  /// Instances that no chain could be followed through, because too many later ones had begun by
  /// the time that they could be linked (InstanceWindow).
  std::uint64_t beyond_window = 0;
};

/// An instance of a chain: the instances of its callbacks, each activated by the one before.
struct ChainInstance {
  std::size_t chain = 0;
  /// From when the time counts that the chain's goal is about: the activation, but for reactions,
  /// each of which is an instance of its own. Without the correction, too.
  Instant since;
  /// When the first was activated, without Measurer::correction() of its callback. Later by the
  /// time in which no subscription was there yet that could read a message.
  Instant activation;
  Instant completion;
  std::vector<execution::InstanceId> path;
  /// That time, which is no part of the latency.
  Duration before_readers{};
};

/// Called with each instance of a chain whose latency is measured.
using ChainListener = std::function<void(const ChainInstance&)>;

/// An instance of a chain's last callback whose latency stays unknown, though its message may have
/// come along the chain.
struct UnfollowedEnd {
  enum class Reason {
    /// The publication of a message was not seen.
    sender_unknown,
    /// A callback that sent a message was not seen to end.
    sender_not_ended,
  };
  std::size_t chain = 0;
  execution::InstanceId instance = execution::InstanceId::none;
  Instant completion;
  Reason reason{};
};

/// Called with each of them that Measurer::follow_until() comes upon.
using UnfollowedListener = std::function<void(const UnfollowedEnd&)>;

/// Observes an execution to measure what a model describes of it. Memory is bounded by the size of
/// the model and the number of objects.
class Measurer final : public execution::Observer {
 public:
  /// How much of the measured times to keep. A distribution keeps thousands of times in memory;
  /// a caller that watches a robot gets each time through its listener and needs only counts.
  enum class Keep { statistics, counts };

  /// The model outlives the measurer.
  explicit Measurer(const model::Model& model, ChainListener on_chain = {},
                    Keep keep = Keep::statistics, UnfollowedListener on_unfollowed = {});

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_dds_write(const execution::Database& database, const execution::DdsMessage& message,
                    Instant time) override;
  void on_dds_receive(const execution::Database& database, const execution::DdsMessage& message,
                      execution::ProcessIndex process, Instant time) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;
  void on_switch(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedSwitch& change) override;
  void on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedWakeup& wakeup) override;
  void on_steady_state(const execution::Database& database, Instant time) override;

  /// Reports the chains that ended before this time to the listener now; otherwise it learns of
  /// them much later. A message may be handled long before the callback that sent it ends, because
  /// the kernel runs other threads meanwhile: such a chain is reported when that callback has
  /// ended, or after a minute as one that cannot be followed. Chains are not found that lead
  /// through a timer's instance which ended more than a minute before.
  void follow_until(Instant time);
  /// The ends of chains that were not reported yet, and of those the ones of a chain that wait for
  /// a sender to end.
  [[nodiscard]] std::set<execution::InstanceId> pending() const;
  [[nodiscard]] std::size_t waiting(std::size_t chain) const;
  /// To be called after the last event: reports the chains that ended last to the listener.
  void finish();

  /// The time to add to a callback's activations that were reported so far (TimerGrid).
  [[nodiscard]] Duration correction(model::CallbackIndex callback) const;

  /// What was measured so far. O(size of the measurement). Where there is a listener, finish()
  /// comes first.
  [[nodiscard]] Measurement measurement() const;

 private:
  /// A callback that a timer samples, and the instance of it that the timer read.
  struct Sampled {
    model::CallbackIndex from;
    execution::InstanceId instance = execution::InstanceId::none;
    /// The timer had read it before.
    bool again = false;
    /// The message as which it was passed on; none: any.
    execution::PublicationId as = execution::PublicationId::none;
  };

  /// The instances of callbacks whose messages wait for a thread, or for a callback that receives
  /// transforms.
  struct Handed {
    struct Message {
      Instant start;
      model::CallbackIndex from;
      execution::InstanceId instance = execution::InstanceId::none;
      std::int64_t stamp = 0;
    };
    std::deque<Message> waiting;  // in the order of their starts
    bool has_begun = false;
    /// How many messages in a row the thread has taken while another one waited.
    std::size_t delayed = 0;
    /// The newest instances of the thread that found no message, and their ends: one may have been
    /// handed over by an instance that still runs.
    std::deque<std::pair<execution::InstanceId, Instant>> early;
  };

  /// The inputs of a chain whose goal is about reactions that no output is based on so far.
  struct Inputs {
    struct Input {
      execution::InstanceId reader;
      /// The instance from whose activation on the reader reads inputs.
      execution::InstanceId since;
    };
    std::deque<Input> waiting;
    /// The newest instance of a timer that begins the chain.
    execution::InstanceId newest_reader = execution::InstanceId::none;
  };
  using InputsOfChains = std::vector<Inputs>;

  /// The state that links the instances of a callback of the model to those before.
  struct CallbackState {
    std::optional<execution::TimerGrid> grid;
    std::optional<links::HeldMessages<links::MessageCount>> join;
    /// Whether the join was inferred from which of its runs published: those complete a set.
    bool publishes_sets = false;
    /// The join's input that takes the messages of a predecessor, or of a topic.
    std::map<model::CallbackIndex, std::size_t> input_of_sender;
    std::map<std::string, std::size_t> input_of_topic;
    links::SetsOnArrival on_arrival;
    std::map<model::CallbackIndex, std::size_t> edge_from;  // predecessor → edge
    std::vector<std::size_t> first_in;                      // chains
    std::vector<std::size_t> last_in;
    /// The callbacks that it samples, each with the instance that it read last.
    std::vector<Sampled> samples;
    /// Those of them whose messages it takes itself, so that it is known which it read.
    std::set<model::CallbackIndex> taken;
    /// If it is a thread, or receives transforms: the queues in which messages of other callbacks
    /// wait for it. Callbacks that are inferred to hand it messages share one queue, which has no
    /// key; each declared one has its own.
    std::map<std::optional<model::CallbackIndex>, Handed> handed;
    /// Those for which the messages of this callback wait.
    std::vector<model::CallbackIndex> hands_to;
    /// Whether a timer samples this callback.
    bool is_sampled = false;
    /// Its newest instances, the newest last; empty unless `is_sampled`.
    std::deque<execution::InstanceId> newest;
  };

  /// Notes an activation of the callback's own.
  static void note_activation(const execution::Objects& objects,
                              const execution::CallbackInstance& instance, Instant activation,
                              Measurement::Callback& measured);
  void check_window(const execution::CallbackInstance& instance,
                    std::optional<model::CallbackIndex> callback);
  /// Adds an instance to those through which chains are followed.
  void link(CallbackState& state, const execution::CallbackInstance& instance,
            const InstanceRecord& record, bool takes);
  /// Notes which instances a timer's instance reads, or one of a thread (`takes`) that takes what
  /// was handed to it.
  void sample(CallbackState& state, const execution::CallbackInstance& instance, bool takes);
  static void take(CallbackState& state, const execution::CallbackInstance& instance,
                   std::vector<Sampled>& read);
  /// Notes which instances' messages one of a callback that receives transforms has passed on.
  void pass_on(CallbackState& state, const execution::CallbackInstance& instance);
  /// Puts an instance into the queues in which its message waits for others. `stamp`: its
  /// message's.
  void hand_over(const CallbackState& state, model::CallbackIndex callback,
                 const execution::CallbackInstance& instance, std::int64_t stamp);
  /// Whether an instance is among the newest that the window has room for.
  [[nodiscard]] bool is_recent(execution::InstanceId id) const;
  /// Notes an instance that begins a chain as a reader of inputs.
  void note_input(std::size_t chain, execution::InstanceId instance);
  /// Notes a publication that may end chains, or that makes an instance one that begins a chain.
  void note_publication(const execution::Database& database,
                        const execution::Publication& publication);
  /// When a chain ends that ends with this instance; none if the instance did not publish on the
  /// chain's last topic.
  [[nodiscard]] std::optional<Instant> end_of(const InstanceRecord& last, std::size_t chain) const;
  /// Whether the instance is known to have published on the topic, and is recent.
  [[nodiscard]] bool has_published(execution::InstanceId instance, const std::string& topic) const;
  /// The instance before `current` on a chain that comes from callback `from` and goes on with the
  /// message `as`. `again`: also one that a timer had read before.
  [[nodiscard]] execution::InstanceId previous_on_chain(const InstanceRecord& current,
                                                        model::CallbackIndex from, bool again,
                                                        execution::PublicationId as) const;
  [[nodiscard]] std::optional<model::CallbackIndex> sender_of(
      const execution::Database& database, const execution::Publication* publication);
  void measure_edge(const execution::Database& database, std::size_t index,
                    const execution::CallbackInstance& instance,
                    const execution::Publication& publication, bool alone);
  bool completes_join(CallbackState& state, const execution::CallbackInstance& instance,
                      const std::string& topic, std::optional<model::CallbackIndex> sender) const;
  /// What following a chain back from its end found: its beginning, another path, a message whose
  /// publication is not known, or one whose sender has not ended.
  enum class Found { beginning, other_path, sender_unknown, sender_not_ended };
  void follow(InstanceWindow& window, InputsOfChains& inputs, Measurement& measurement,
              execution::InstanceId end) const;
  Found follow(InstanceWindow& window, InputsOfChains& inputs, Measurement& measurement,
               const InstanceRecord& end, std::size_t chain) const;
  /// Records what the end of a chain ends, and reports it. `seen`: from the activation on.
  void record(InstanceWindow& window, InputsOfChains& inputs, Measurement& measurement,
              ChainInstance seen) const;
  /// Follows a chain back and reports what is found. False: its sender may end yet, as `time` is
  /// not long after its end.
  bool settle(execution::InstanceId end, std::size_t chain, Instant time);

  const model::Model& model_;
  ChainListener on_chain_;
  UnfollowedListener on_unfollowed_;
  bool has_statistics_;
  Matcher matcher_;
  /// The times of timers are those before correction().
  Measurement measured_;
  std::vector<CallbackState> callbacks_;
  std::vector<WindowPlace> places_;
  struct ThreadWindows {
    execution::WindowCheck check;
    /// That of the callbacks seen there; executors of several threads have no windows.
    std::optional<model::ExecutorIndex> executor;
  };
  std::vector<ThreadWindows> windows_;  // by thread
  ProcessorWaits processor_waits_;
  std::vector<std::optional<model::ExecutorIndex>> executors_;  // by thread
  MessageTimes message_times_;
  std::vector<execution::InstanceId> sending_;  // by thread: the newest instance that published
  std::vector<execution::InstanceId> sending_messages_;  // the same, triggers of timers aside
  InstanceWindow window_;
  /// By edge: the run that sent the newest message, and how many of it came in a row.
  struct SentTogether {
    execution::InstanceId run = execution::InstanceId::none;
    std::uint64_t number = 0;
    /// A subscription that is made anew gets latched messages that came before once more.
    execution::PublicationId newest = execution::PublicationId::none;
  };
  std::vector<SentTogether> sent_together_;
  InputsOfChains inputs_;
  /// By chain whose goal is about reactions, the topic on which its first callback sends to the
  /// next; none if that is not known, or it has no next.
  std::vector<std::optional<std::string>> input_topics_;
  /// The callbacks of the newest instances whose message was taken before its publication was seen.
  std::map<execution::InstanceId, model::CallbackIndex> awaiting_source_;
  /// The instances that each instance of a timer read, as long as the window holds it.
  std::map<execution::InstanceId, std::vector<Sampled>> sampled_;
  /// The topics with whose publication chains end, or that tell inputs of chains, and when the
  /// newest instances published on them last.
  std::set<std::string> noted_topics_;
  /// What the running instances of callbacks that receive transforms have published.
  struct PassedOn {
    execution::PublicationId id = execution::PublicationId::none;
    std::int64_t stamp = 0;
  };
  std::map<execution::InstanceId,
           std::map<std::optional<execution::PublisherIndex>, std::vector<PassedOn>>>
      passed_on_;
  bool passes_on_ = false;
  std::map<execution::InstanceId, std::map<std::string, Instant>> published_;
  /// Ends of chains that are not followed back yet.
  std::deque<execution::InstanceId> ends_;
  /// Ends of chains that wait for a sender to end.
  std::deque<std::pair<execution::InstanceId, std::size_t>> waiting_;
  /// The first instance that was seen, and the one that began last.
  execution::InstanceId first_ = execution::InstanceId::none;
  execution::InstanceId newest_ = execution::InstanceId::none;
  std::optional<Instant> steady_since_;
};

}  // namespace takt::flow
