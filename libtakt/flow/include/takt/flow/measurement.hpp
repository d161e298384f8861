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
#include "takt/execution/windows.hpp"
#include "takt/flow/instance_window.hpp"
#include "takt/flow/matching.hpp"
#include "takt/flow/message_times.hpp"
#include "takt/flow/timer_grid.hpp"
#include "takt/links/held_messages.hpp"
#include "takt/model/model.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::flow {

using statistics::Distribution;

/// The measured times of a model's callbacks, chains and edges, each by its position in the model.
/// Start-up is left out (Observer::on_steady_state).
struct Measurement {
  /// A timer is activated when it is due; a callback with a message is activated when the message
  /// was published, plus the longest delay of the model's edge, but at the latest when it was
  /// taken; a callback whose message is not in the trace is activated when it took the message, or
  /// when it starts if that is not known. Response time is completion minus activation.
  struct Callback {
    std::uint64_t count = 0;
    Distribution execution_time;
    Distribution response_time;
    /// Of its activations of its own, those that no edge of the model brings.
    execution::DistanceCurve activations;
    /// How much longer than shown the spans of several activations may have been.
    Duration unseen{};
  };
  /// Latency is completion of the last minus activation of the first instance. Instances are linked
  /// by the messages that triggered them. A timer that samples another callback is linked to the
  /// newest instance of it that ended before and that the timer has not read yet.
  struct Chain {
    Distribution latency;
    std::uint64_t begun = 0;
    /// Beginnings that were followed to an end; several ends may have the same beginning.
    std::uint64_t completed = 0;

    /// Beginnings for which no end was found. One that ended just as start-up did may have been
    /// completed without having been counted as begun.
    [[nodiscard]] std::uint64_t incomplete() const { return begun - std::min(begun, completed); }
  };
  struct Edge {
    std::uint64_t count = 0;
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
  std::vector<Shown> timeline;
  /// Instances that no chain could be followed through, because too many later ones had begun by
  /// the time that they could be linked (InstanceWindow).
  std::uint64_t beyond_window = 0;
};

/// An instance of a chain: the instances of its callbacks, each activated by the one before.
struct ChainInstance {
  std::size_t chain = 0;
  /// When the first was activated, without Measurer::correction() of its callback.
  Instant activation;
  Instant completion;
  std::vector<execution::InstanceId> path;
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
  void on_dds_write(const execution::Database& database, const execution::DdsMessage& message,
                    Instant time) override;
  void on_dds_receive(const execution::Database& database, const execution::DdsMessage& message,
                      execution::ProcessIndex process, Instant time) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;
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
  };

  /// The state that links the instances of a callback of the model to those before.
  struct CallbackState {
    std::optional<TimerGrid> grid;
    std::optional<links::HeldMessages<links::MessageCount>> join;
    /// Whether the join was inferred from which of its runs published: those complete a set.
    bool publishes_sets = false;
    /// The join's input that takes the messages of a predecessor, or of a topic.
    std::map<model::CallbackIndex, std::size_t> input_of_sender;
    std::map<std::string, std::size_t> input_of_topic;
    /// Whether its executor was seen to run messages that it had not kept, and whether it completes
    /// the join's sets when messages come.
    bool passes_over = false;
    bool binds = false;
    std::map<model::CallbackIndex, std::size_t> edge_from;  // predecessor → edge
    std::vector<std::size_t> first_in;                      // chains
    std::vector<std::size_t> last_in;
    /// The callbacks that it samples, each with the instance that it read last.
    std::vector<Sampled> samples;
    /// Whether a timer samples this callback.
    bool is_sampled = false;
    /// Its newest instances, the newest last; empty unless `is_sampled`.
    std::deque<execution::InstanceId> newest;
  };

  /// Notes an activation of the callback's own.
  static void note_activation(const execution::Objects& objects,
                              const execution::CallbackInstance& instance, Instant activation,
                              Measurement::Callback& measured);
  void check_window(const execution::CallbackInstance& instance, model::CallbackIndex callback);
  /// Adds an instance to those through which chains are followed.
  void link(CallbackState& state, const execution::CallbackInstance& instance,
            const InstanceRecord& record);
  /// Notes which instances a timer's instance reads.
  void sample(CallbackState& state, const execution::CallbackInstance& instance);
  /// Whether an instance is among the newest that the window has room for.
  [[nodiscard]] bool is_recent(execution::InstanceId id) const;
  /// The instance before `current` on a chain that comes from callback `from`.
  [[nodiscard]] execution::InstanceId previous_on_chain(const InstanceRecord& current,
                                                        model::CallbackIndex from) const;
  [[nodiscard]] std::optional<model::CallbackIndex> sender_of(
      const execution::Database& database, const execution::Publication* publication);
  void measure_edge(const execution::Database& database, Measurement::Edge& edge,
                    const execution::CallbackInstance& instance,
                    const execution::Publication& publication, bool alone);
  bool completes_join(CallbackState& state, const execution::CallbackInstance& instance,
                      const std::string& topic, std::optional<model::CallbackIndex> sender) const;
  /// What following a chain back from its end found: its beginning, another path, a message whose
  /// publication is not known, or one whose sender has not ended.
  enum class Found { beginning, other_path, sender_unknown, sender_not_ended };
  void follow(InstanceWindow& window, Measurement& measurement, execution::InstanceId end) const;
  Found follow(InstanceWindow& window, Measurement& measurement, const InstanceRecord& end,
               std::size_t chain) const;
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
  /// By executor; those of several threads have no windows.
  std::vector<execution::WindowCheck> windows_;
  MessageTimes message_times_;
  std::vector<execution::InstanceId> sending_;  // by thread: the newest instance that published
  InstanceWindow window_;
  /// The callbacks of the newest instances whose message was taken before its publication was seen.
  std::map<execution::InstanceId, model::CallbackIndex> awaiting_source_;
  /// The instances that each instance of a timer read, as long as the window holds it.
  std::map<execution::InstanceId, std::vector<Sampled>> sampled_;
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
