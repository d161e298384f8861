#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joins.hpp"
#include "takt/links/link.hpp"
#include "takt/model/message_share.hpp"
#include "takt/model/model.hpp"
#include "takt/synthesis/observations.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {

/// Execution times of a callback after start-up.
struct ObservedTimes {
  std::uint64_t count = 0;
  Duration shortest = Duration::max();
  Duration longest{};
  Duration total{};
};

/// A value of a model that one observation alone makes so large, or so small.
struct Outlier {
  /// The kind of the value: "execution_time", "suspension", "overhead", "activation" or "delay".
  std::string_view of;
  /// The callback, or the executor; of a delay, the sender.
  std::string id;
  /// The receiver of a delay.
  std::string to;
  Duration value{};
  Instant time;
  /// The curve without it, or the one next longest delay.
  std::vector<Duration> without;
};

/// What an executor's thread did while no callback ran that events name.
struct UnnamedWork {
  model::ExecutorIndex executor;
  std::uint64_t count = 0;
  Duration total{};
  Duration longest{};
};

/// Makes a model of what was observed from `begin` to `end`. Looks for the joins of `declared`,
/// unless that is null, and for the links that `declarations` (may be null) make of those seen.
class Builder {
 public:
  Builder(const Observations& observations, const execution::Database& database, Instant begin,
          Instant end, const model::Model* declared, const links::Declarations* declarations);

  /// Callbacks, executors, edges and joins; no chains and no provenance.
  [[nodiscard]] model::Model build();

  /// How the built model differs from what was observed.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// By the id of the built model's callback; for a join, of all runs of its subscriptions.
  [[nodiscard]] const std::map<std::string, ObservedTimes>& observed_times() const {
    return observed_times_;
  }
  /// The ids of the built model's callbacks that ran on a thread.
  [[nodiscard]] std::set<std::string> callbacks_on(execution::ThreadIndex thread,
                                                   const model::Model& built) const;
  /// The curves' and delays' outliers: at least a quarter beyond the next value.
  [[nodiscard]] const std::vector<Outlier>& outliers() const { return outliers_; }
  /// Only executors with one thread are looked at: threads of others also wait for each other.
  [[nodiscard]] const std::vector<UnnamedWork>& unnamed_work() const { return unnamed_work_; }
  /// The callbacks that stand for inputs of message_filters, and whether the message that completes
  /// a set is known to be of it.
  [[nodiscard]] std::map<model::CallbackIndex, bool> filters() const;

 private:
  using Observed = execution::ObservedCallbackIndex;

  /// When the timer is due first after the origin of the trace's clock.
  [[nodiscard]] std::optional<Duration> phase(const execution::Timer& timer) const;
  void choose_joins();
  /// The callback, or the first member of its join: whichever member comes last sends for all.
  [[nodiscard]] Observed representative(Observed callback) const;
  [[nodiscard]] bool can_join(const ObservedJoin& join) const;
  void add_executors();
  [[nodiscard]] model::CallbackOrder order_of(const execution::Executor& observed,
                                              const std::string& id);
  void add_callbacks();
  /// Callback groups as far as the recording shows that they differ.
  void add_groups();
  void note_times();
  [[nodiscard]] std::string process_label(execution::ProcessIndex index) const;
  [[nodiscard]] std::optional<std::string> why_unclassifiable(
      const execution::Executor& observed) const;
  [[nodiscard]] Duration source_period(const execution::Callback& callback) const;
  /// Keeps it if it is one.
  void note_outlier(Outlier outlier);
  void note_unnamed_work(const execution::Executor& observed, model::ExecutorIndex executor);
  void set_inference(model::Join& join, const ObservedJoin& observed) const;
  /// Messages of one of these subscriptions that wait at most; none: any number, as of one that
  /// keeps all.
  [[nodiscard]] std::optional<std::int64_t> queue_depth(std::span<const Observed> members) const;
  void add_callback(Observed index, const std::string& id);
  void add_edges();
  void add_hand_over(const links::Link& link);
  void add_waiting_for_transform(const links::Link& link);
  void add_sampled_edges();
  /// Leaves out edges that close a cycle without end, the least observed first, and gives their
  /// receivers all activations that were observed where such edges end as their own. Such cycles
  /// come of missing events: messages are then taken for those of another instance.
  /// `observed_messages`: by edge.
  void break_cycles(const std::vector<std::uint64_t>& observed_messages);
  void keep_what_edges_support();
  [[nodiscard]] bool is_activated_from_outside(Observed index) const;
  /// Whether a timer was called as its period says.
  [[nodiscard]] bool keeps_period(Observed timer) const;
  [[nodiscard]] std::optional<model::Activation> activation(Observed index) const;
  /// The measured activations of the callback, as far as the curve holds them.
  [[nodiscard]] model::MinDistanceActivation min_distance(
      Observed index, const execution::DistanceCurve& activations) const;
  /// Those that count as its own, and not of edges.
  [[nodiscard]] const execution::DistanceCurve& own_activations(Observed index) const;
  /// How long the callback was observed.
  [[nodiscard]] Duration observed_time(Observed index) const;
  /// Whether an edge leads from a sender of the callback's messages to it.
  [[nodiscard]] bool is_explained(Observed index, Observed sender) const;
  [[nodiscard]] std::optional<std::vector<model::CallbackIndex>> triggers(Observed from,
                                                                          TopicIndex topic) const;
  /// The callers whose requests a service answers to this client; none: all of its callers.
  [[nodiscard]] std::optional<std::vector<model::CallbackIndex>> callers(
      Observed service, const EdgeObservation& response) const;
  /// The longest delay of the edge's messages is known always.
  [[nodiscard]] LongestDelay delay(const EdgeObservation& edge, const model::Callback& from,
                                   const model::Callback& to) const;
  /// The longest time for which a message, beyond delay(), waits in a queue until the reader has
  /// taken those before it. A warning says so.
  Duration waiting(const EdgeObservation& edge, const model::Callback& reader, TopicIndex topic);
  /// The longest time from a publication to its arrival; 0 where none is known beyond delay().
  [[nodiscard]] Duration travel(const EdgeObservation& edge, const model::Callback& from,
                                const model::Callback& to) const;
  /// The share of a caller's instances that call the service; none: all call it, or it is not known
  /// which of them do.
  [[nodiscard]] std::optional<model::MessageShare> calling(Observed caller,
                                                           TopicIndex service) const;
  [[nodiscard]] std::uint64_t messages_per_instance(Observed from, TopicIndex topic) const;

  const Observations& observations_;
  const execution::Database& database_;
  const execution::Objects& objects_;
  const events::Threads& threads_;
  Instant begin_;
  Instant end_;
  const model::Model* declared_;
  std::vector<links::Link> links_;
  model::Model model_;
  std::vector<ObservedJoin> joins_;
  std::map<Observed, std::size_t> join_of_;
  std::map<Observed, model::ExecutorIndex> executor_of_;
  std::map<Observed, model::CallbackIndex> callback_of_;
  /// By executor of the model: the threads that ran its callbacks.
  std::vector<std::vector<execution::ThreadIndex>> threads_of_;
  std::vector<std::string> warnings_;
  std::map<std::string, ObservedTimes> observed_times_;
  std::vector<UnnamedWork> unnamed_work_;
  std::vector<Outlier> outliers_;
};

}  // namespace takt::synthesis
