#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "takt/execution/curves.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/interpreter.hpp"

namespace takt::synthesis {

using execution::CallbackIndex;
using execution::TopicIndex;

/// What one callback of the trace did.
struct CallbackObservation {
  std::uint64_t count = 0;
  execution::CostCurve execution_time;
  execution::DistanceCurve activations;
  /// Instances by the callback that sent their message.
  std::map<CallbackIndex, std::uint64_t> activated_by;
  /// Instances whose message came from outside of all callbacks, or from where is not known.
  std::uint64_t activated_from_outside = 0;
};

/// Messages from one callback to another.
struct EdgeObservation {
  std::uint64_t count = 0;
  /// Longest time to an arrival that ended a wait, and the shortest of any message.
  std::optional<Duration> longest_visible;
  Duration shortest = Duration::max();
};

/// What a callback sent on a topic.
struct OutputObservation {
  /// Messages by the callback whose message activated the sending instance.
  std::map<CallbackIndex, std::uint64_t> by_cause;
  /// Most messages of one instance.
  std::uint64_t most_per_instance = 0;
};

/// The runs of a node's subscriptions, for the recognition of joins.
struct Log {
  struct Entry {
    CallbackIndex callback;
    /// Number of the set of topics it published on; 0: on none.
    std::uint32_t outputs = 0;
    Duration execution_time{};
  };
  std::vector<Entry> entries;
  /// The first entry after start-up.
  std::size_t steady_from = 0;
};

/// Collects from the interpreter what the model is made of, in memory bounded by the number of
/// callbacks and not by the length of the trace.
class Observations {
 public:
  using EdgeKey = std::tuple<CallbackIndex, CallbackIndex, TopicIndex>;
  using OutputKey = std::pair<CallbackIndex, TopicIndex>;
  using TopicSet = std::set<TopicIndex>;

  /// Runs of a node's subscriptions that are remembered; joins are recognised on these.
  static constexpr std::size_t max_log = 1 << 18;

  void add(const execution::Interpreter& interpreter, const execution::CallbackInstance& instance);
  void add(const execution::Interpreter& interpreter, const execution::Publication& publication);
  /// Start-up is over: forgets what ran in it, but for the logs, as joins keep messages from then.
  void restart(Instant time);

  [[nodiscard]] const CallbackObservation* callback(CallbackIndex index) const {
    return index.value() < callbacks_.size() && callbacks_[index.value()].count != 0
               ? &callbacks_[index.value()]
               : nullptr;
  }
  /// Callbacks that ran during start-up, whether later or not.
  [[nodiscard]] const std::set<CallbackIndex>& in_start_up() const { return in_start_up_; }
  [[nodiscard]] const std::map<EdgeKey, EdgeObservation>& edges() const { return edges_; }
  [[nodiscard]] const std::map<OutputKey, OutputObservation>& outputs() const { return outputs_; }
  [[nodiscard]] const std::map<execution::NodeIndex, Log>& logs() const { return logs_; }
  [[nodiscard]] const execution::ExecutorFinder& executors() const { return executors_; }
  /// Of a thread: its executor's overhead between consecutive instances.
  [[nodiscard]] const execution::CostCurve* overhead(execution::ThreadIndex thread) const {
    return thread.value() < overheads_.size() ? &overheads_[thread.value()] : nullptr;
  }
  [[nodiscard]] std::optional<Instant> steady_since() const { return steady_since_; }

 private:
  /// What the instance that runs on a thread has sent.
  struct Sent {
    execution::InstanceId instance = execution::InstanceId::none;
    std::map<TopicIndex, std::uint64_t> topics;
  };

  void add_message(const execution::CallbackInstance& instance,
                   const execution::Publication* publication, CallbackObservation& callback);

  std::vector<CallbackObservation> callbacks_;
  std::set<CallbackIndex> in_start_up_;
  std::map<EdgeKey, EdgeObservation> edges_;
  std::map<OutputKey, OutputObservation> outputs_;
  std::map<execution::NodeIndex, Log> logs_;
  std::map<TopicSet, std::uint32_t> output_sets_{{TopicSet{}, 0}};
  execution::ExecutorFinder executors_;
  std::vector<execution::CostCurve> overheads_;
  std::vector<Sent> sent_;  // by thread
  std::optional<Instant> steady_since_;
};

}  // namespace takt::synthesis
