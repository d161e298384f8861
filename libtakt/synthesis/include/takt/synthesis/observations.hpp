#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "takt/execution/curves.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/recent_ends.hpp"
#include "takt/execution/timer_grid.hpp"
#include "takt/links/evidence.hpp"
#include "takt/synthesis/aging.hpp"
#include "takt/synthesis/callback_orders.hpp"
#include "takt/synthesis/declared_sets.hpp"
#include "takt/synthesis/overlaps.hpp"
#include "takt/synthesis/prompt_threads.hpp"

namespace takt::synthesis {

using execution::ObservedCallbackIndex;
using execution::TopicIndex;

/// Which of a program's behaviour goes into the model.
struct Observing {
  /// Whether nodes forget what they did before their last change of phase (ros-llama S-4.4.7).
  bool phases = false;
  /// Whether the model's timers have the phases of the recorded ones, which are due at multiples of
  /// their period after they were made. The phase of a timer that was made before the recording
  /// began is not known.
  bool timer_phases = false;
  /// Execution times of long ago lose their weight. None: the largest of all counts.
  std::optional<Aging> aging{};
  /// Whether forget() may be called.
  bool forgets = false;
  /// Only delays of messages count that these threads took while they were prompt. For other
  /// messages the shortest time from sending to taking counts, model::prompt_delay at most. Null:
  /// every delay counts. Outlives the observations.
  const PromptThreads* prompt = nullptr;
};

/// A node's changes of phase since start-up.
struct Phases {
  std::uint64_t changes = 0;
  /// The last one, and what showed it.
  Instant since;
  std::string_view shown_by;
};

/// How the instances of a callback suspended themselves of which that is known: for how long, and
/// how often, as costs of 1 ns each.
struct ObservedSuspension {
  execution::CostCurve time;
  execution::CostCurve times;

  void add(const execution::CallbackInstance& instance) {
    if (!instance.suspended) return;
    time.add(instance.suspended->time, instance.start);
    times.add(Duration{instance.suspended->times}, instance.start);
  }
};

/// What was observed of a callback since it was forgotten last what came before.
struct RecentObservation {
  std::uint64_t count = 0;
  execution::CostCurve execution_time;
  ObservedSuspension suspension;
  execution::DistanceCurve activations;
  std::uint64_t activated_from_outside = 0;
  execution::DistanceCurve activations_from_outside;
  /// When the first of these instances started.
  Instant since;
};

/// The observed behaviour of one callback.
struct CallbackObservation {
  std::uint64_t count = 0;
  Duration shortest = Duration::max();
  Duration total{};
  execution::CostCurve execution_time;
  /// The same with aging, if there is any.
  std::optional<AgingCurve> aged;
  ObservedSuspension suspension;
  execution::DistanceCurve activations;
  /// Of a timer.
  std::optional<execution::TimerGrid> grid;
  /// Counts instances by the callback that sent their message.
  std::map<ObservedCallbackIndex, std::uint64_t> activated_by;
  /// Instances whose message no callback sent, or whose sender is not known.
  std::uint64_t activated_from_outside = 0;
  execution::DistanceCurve activations_from_outside;
  /// What came before was forgotten; none: nothing was.
  std::optional<Instant> since;
  RecentObservation recent;

  /// The cost of n consecutive instances that counts.
  [[nodiscard]] std::vector<Duration> cost() const {
    return aged ? aged->values() : execution_time.values();
  }
  /// The same without the largest cost; curves that age are not known without it.
  [[nodiscard]] std::vector<Duration> cost_without_largest() const {
    return aged ? aged->values() : execution_time.values_without_largest();
  }
};

/// The two longest delays of an edge's messages.
struct LongestDelay {
  std::optional<Duration> longest{};
  std::optional<Duration> second{};
  /// When the message of the longest was sent.
  Instant time{};

  void add(Duration delay, Instant sent) {
    delay = std::max(delay, Duration{0});
    if (!longest || delay > *longest) {
      second = longest;
      longest = delay;
      time = sent;
    } else {
      second = std::max(second.value_or(delay), delay);
    }
  }
};

/// The longest delays of messages from one callback to another.
struct LongestDelays {
  /// The longest visible delay, and the longest if the receiver's executor has one thread.
  LongestDelay longest_visible;
  LongestDelay longest_visible_alone;
  /// The same from the publications, even if their senders went on for longer.
  LongestDelay longest_travel;
  LongestDelay longest_travel_alone;
};

/// Messages from one callback to another.
struct EdgeObservation : LongestDelays {
  std::uint64_t count = 0;
  /// Messages came through shared memory. Delays of those before the first do not count: they came
  /// by the middleware, as the first messages of all that is shared.
  bool by_memory = false;
  /// Those of messages since it was forgotten last what came before, and how many there were.
  LongestDelays recent;
  std::uint64_t recent_count = 0;
  /// The shortest time from sending to taking.
  Duration shortest = Duration::max();
  /// For responses: how many, by the callback that had sent the request.
  std::map<ObservedCallbackIndex, std::uint64_t> by_caller;
  /// Of messages that the receiver takes itself.
  struct Takes {
    /// The receiver's runs that took messages, and those of them that left a newer one waiting.
    std::uint64_t runs = 0;
    std::uint64_t left = 0;
    /// The longest time from when a message could be taken to a run that left it.
    Duration longest{};
    /// The depth of the receiver's queue; 0: unknown.
    std::int64_t queue_depth = 0;
    execution::InstanceId newest = execution::InstanceId::none;
  } takes;

  void came_by_memory() {
    if (std::exchange(by_memory, true)) return;
    static_cast<LongestDelays&>(*this) = {};
    recent = {};
    recent_count = 0;
    shortest = Duration::max();
  }
};

/// The messages that a callback sent on a topic.
struct OutputObservation {
  std::uint64_t count = 0;
  /// The sender's instances from one that sent to the next that did; none: not seen yet.
  std::optional<std::uint64_t> fewest_between;
  std::uint64_t most_between = 0;
  /// How many of the sender's instances had ended when it sent last.
  std::optional<std::uint64_t> sent_after;
  /// Counts messages by the callback whose message had activated the sending instance.
  std::map<ObservedCallbackIndex, std::uint64_t> by_cause;
  /// The largest number of messages of one instance.
  std::uint64_t most_per_instance = 0;
};

/// Collects everything that the model is made of, in memory bounded by the number of callbacks and
/// not by the length of the trace.
class Observations {
 public:
  using EdgeKey = std::tuple<ObservedCallbackIndex, ObservedCallbackIndex, TopicIndex>;
  using OutputKey = std::pair<ObservedCallbackIndex, TopicIndex>;

  explicit Observations(const Observing& observing) : observing_(observing) {}

  void add(const execution::Database& database, const execution::CallbackInstance& instance);
  void add(const execution::Database& database, const execution::Publication& publication);
  void add(const execution::Database& database, const execution::Read& read);
  /// The sender of the message that an instance took became known after the instance had ended.
  void add_source(const execution::Database& database, execution::InstanceId instance,
                  execution::PublicationId source);
  /// The recording ends here: nothing more will come to light.
  void settle(const execution::Objects& objects);
  /// Forgets costs, overheads, delays and activations from before the last call: a surge that is
  /// over, which a model of everything that was seen would have for ever. What was seen less than
  /// `enough_to_forget` times since then stays as it is. Costs of joins stay, too. After it, a
  /// model bounds no longer all that was seen.
  void forget();
  static constexpr std::uint64_t enough_to_forget = 10;
  /// Start-up is over: forgets everything that ran in it, except the messages that inputs of joins
  /// hold, which may be from then, and when each callback ran and published first.
  void restart(Instant time);

  [[nodiscard]] const CallbackObservation* callback(ObservedCallbackIndex index) const {
    return index.value() < callbacks_.size() && callbacks_[index.value()].count != 0
               ? &callbacks_[index.value()]
               : nullptr;
  }
  /// Callbacks that ran during start-up or in an earlier phase; they may have run later, too.
  [[nodiscard]] const std::set<ObservedCallbackIndex>& ran_before() const { return ran_before_; }
  [[nodiscard]] const std::map<execution::NodeIndex, Phases>& phases() const { return phases_; }
  [[nodiscard]] const Observing& observing() const { return observing_; }
  [[nodiscard]] const std::map<EdgeKey, EdgeObservation>& edges() const { return edges_; }
  /// Whether messages from one to the other are known that belong to the present phase.
  [[nodiscard]] bool has_edge(ObservedCallbackIndex from, ObservedCallbackIndex to) const;
  [[nodiscard]] const std::map<OutputKey, OutputObservation>& outputs() const { return outputs_; }
  /// What shows the links within nodes.
  [[nodiscard]] const links::Evidence& links() const { return links_; }
  [[nodiscard]] const DeclaredSets& declared_sets() const { return declared_sets_; }
  [[nodiscard]] const Overlaps& overlaps() const { return overlaps_; }
  /// Whether the callback published anything after start-up, log messages aside.
  [[nodiscard]] bool publishes(ObservedCallbackIndex index) const {
    return !links_.of(index).topics.empty();
  }
  /// Of what is in the model: what belongs to start-up has no executor by itself.
  [[nodiscard]] const execution::ExecutorFinder& executors() const { return executors_; }
  [[nodiscard]] const CallbackOrders& orders() const { return orders_; }
  /// The overhead of a thread's executor between consecutive instances; null if none was seen. With
  /// `turns`, the thread is one of several, which choose one at a time: until its executor speaks
  /// up, it is taken to be busy as long as it is at least, and to wait for the others beyond that.
  [[nodiscard]] const execution::CostCurve* overhead(execution::ThreadIndex thread,
                                                     bool turns) const {
    if (thread.value() >= overheads_.size()) return nullptr;
    const Overhead& overhead = overheads_[thread.value()];
    return turns ? &overhead.in_turn : &overhead.alone;
  }
  [[nodiscard]] std::optional<Instant> steady_since() const { return steady_since_; }

 private:
  /// The messages that the instance which runs on a thread has sent.
  struct Sent {
    execution::InstanceId instance = execution::InstanceId::none;
    std::map<TopicIndex, std::uint64_t> topics;
  };

  void add_message(const execution::Database& database, const execution::CallbackInstance& instance,
                   const execution::Publication& publication);
  void add_from_outside(const execution::Objects& objects,
                        const execution::CallbackInstance& instance,
                        const execution::Publication* publication);
  /// Whether the class of a thread changed since its last sign of life. Its first class is no
  /// change.
  [[nodiscard]] bool has_changed(const execution::Database& database,
                                 execution::ThreadIndex thread);
  /// A node began another phase: forgets what its callbacks did and sent before.
  void begin_phase(const execution::Objects& objects, execution::NodeIndex node, Instant time,
                   std::string_view shown_by);

  Observing observing_;
  std::map<execution::NodeIndex, Phases> phases_;
  /// By thread, how often its class had changed at its last sign of life.
  std::vector<std::uint64_t> thread_changes_;
  std::vector<CallbackObservation> callbacks_;
  std::set<ObservedCallbackIndex> ran_before_;
  /// The newest messages by which nodes tell of the parameters that they are made with, to all
  /// nodes. They are a part of start-up, whenever their receivers get round to them.
  std::set<execution::PublicationId> of_start_up_;
  execution::RecentEnds ends_;
  std::map<EdgeKey, EdgeObservation> edges_;
  std::map<OutputKey, OutputObservation> outputs_;
  links::Evidence links_;
  DeclaredSets declared_sets_;
  Overlaps overlaps_;
  execution::ExecutorFinder executors_;
  CallbackOrders orders_;
  struct Overhead {
    execution::CostCurve alone;
    execution::CostCurve in_turn;
    Duration shortest_before_turn = Duration::max();
    execution::CostCurve recent_alone;
    execution::CostCurve recent_in_turn;
    std::uint64_t recent = 0;
  };
  std::vector<Overhead> overheads_;
  std::vector<Sent> sent_;  // by thread
  /// Instances whose request or response the sender has not told of yet, in the order of their
  /// ends.
  std::deque<execution::CallbackInstance> awaiting_;
  std::optional<Instant> steady_since_;
};

}  // namespace takt::synthesis
