#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "derived_curve.hpp"
#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/model/model.hpp"

namespace takt::analysis {

using model::CallbackIndex;
using model::ExecutorIndex;

/// The cost of n consecutive instances of a callback with the overhead of its executor
/// (ros-llama Lemma 1): ET(n) + OT(n).
class Cost {
 public:
  Cost(const std::vector<Duration>& execution_time, const std::vector<Duration>& overhead);
  [[nodiscard]] Duration operator()(std::int64_t n) const {
    const Duration cost = execution_(n);
    return overhead_ ? curves::saturating_add(cost, (*overhead_)(n)) : cost;
  }

  /// With so much more for every instance.
  [[nodiscard]] Cost plus(Duration each) const;

  [[nodiscard]] const curves::ExecutionTimeCurve& execution_time() const { return execution_; }
  [[nodiscard]] const std::optional<curves::ExecutionTimeCurve>& overhead() const {
    return overhead_;
  }

 private:
  curves::ExecutionTimeCurve execution_;
  std::optional<curves::ExecutionTimeCurve> overhead_;
};

/// What orders a callback's instances on executors with priorities or deadlines. Where a callback
/// inherits from several (graph-aware executor), it may have any value between the two.
struct Urgency {
  /// A larger priority is more urgent.
  std::int64_t least_priority = 0;
  std::int64_t greatest_priority = 0;
  /// Relative to the origin, the activation of the source.
  Duration shortest_deadline{};
  Duration longest_deadline{};
  /// Instances may overtake older ones of the same callback.
  bool overtakes = false;
  bool operator==(const Urgency&) const = default;
};

/// A callback as the analyses see it.
struct Task {
  ExecutorIndex executor;
  Cost cost;
  /// Sampled at polling points; others are privileged.
  bool polled = true;
  /// Position in its executor, 0 most urgent.
  std::size_t rank = 0;
  /// The curve given by the model; none: derived from the incoming edges.
  std::optional<curves::ActivationCurve> given;
  /// Edges that activate it, if derived; indices into System::edges.
  std::vector<std::size_t> incoming;
  /// The join of some of the incoming edges; index into System::joins.
  std::optional<std::size_t> join;
  Urgency urgency;
  /// Callbacks of an executor of several threads with equal numbers exclude each other; none:
  /// reentrant.
  std::optional<std::size_t> group;
};

/// An edge that activates a message-driven callback.
struct TriggerEdge {
  CallbackIndex from;
  CallbackIndex to;
  Duration delay{};
  /// On one executor and without delay: the receiver is pending as soon as the sender publishes.
  bool local = false;
  /// Incoming edges of `from` whose activations make it publish here; none: any activation.
  std::optional<std::vector<std::size_t>> triggers;
  /// `triggers` holds some inputs of a join of `from`: index into System::partial_joins.
  std::optional<std::size_t> partial_join;
};

struct JoinInputs {
  model::JoinKind kind = model::JoinKind::and_;
  /// The edges of each input.
  std::vector<std::vector<std::size_t>> inputs;
  /// All of them.
  std::vector<std::size_t> edges;
};

/// One step of the propagation of curves through an executor (see propagation.hpp).
struct PropagationStep {
  enum class Kind { activations, join, edge };
  Kind kind;
  /// Of a callback, into System::joins, or into System::edges.
  std::size_t index;
};

/// What one activation of a root of the graph-aware executor leads to on it (component-cps 4.3):
/// a copy of a callback for each path from the root to it.
struct Tree {
  struct Member {
    CallbackIndex callback;
    std::int64_t copies = 0;
  };
  CallbackIndex root;
  /// With the root.
  std::vector<Member> members;
};

struct LocalExecutor {
  model::ExecutorKind kind = model::ExecutorKind::single_threaded;
  curves::SupplyBound supply = curves::SupplyBound::dedicated();
  std::int64_t threads = 1;
  /// Of each release, see model::Executor.
  Duration release_overhead{};
  /// Why it cannot count on its supply (see cpu_sharing.hpp); empty: it can.
  std::string contention;
  /// What a table-driven executor goes by.
  std::optional<model::SlotTable> table;
  /// Orders by deadline instead of priority (edf, and graph_aware if the model says so).
  bool by_deadline = false;
  /// Of a deadline-based executor (edf): the chains of which it keeps one instance in progress, if
  /// they share no callback but their first. Every callback is in one of them.
  std::vector<std::vector<CallbackIndex>> deadline_chains;
  /// A callback that is activated otherwise than by the one before it in such a chain: it waits,
  /// perhaps for ever, for an instance of the chain to come to it.
  std::optional<CallbackIndex> activated_outside_chain;
  /// Of a graph-aware executor, one for each root; empty if a message takes time within it, so that
  /// it is not known which tree it belongs to.
  std::vector<Tree> trees;
  /// Most urgent first.
  std::vector<CallbackIndex> callbacks;
  /// How to get from the curves of the edges that enter to those of the edges that leave, each step
  /// after those that it needs.
  std::vector<PropagationStep> propagation;
  /// Some message takes time within it: then it comes like one from elsewhere.
  bool delayed = false;
  /// Executors with callbacks that these edges activate, without itself.
  std::vector<ExecutorIndex> successors;
  /// Index into System::components.
  std::size_t component = 0;
};

/// Executors that activate each other's callbacks, directly or not: their bounds can only be found
/// together. Most often a single executor.
struct Component {
  std::vector<ExecutorIndex> executors;
  /// One default executor of which no trigger set couples the callbacks: that they have no bounds
  /// is proved of one callback after the other (docs/analysis.md, "Round-robin, one callback").
  bool proved_one_by_one = false;
  /// Edges to other components; indices into System::edges.
  std::vector<std::size_t> leaving;
};

/// A model, compiled: everything that stays the same while the bounds are searched for.
struct System {
  explicit System(const model::Model& model);

  [[nodiscard]] const Task& operator[](CallbackIndex index) const { return tasks[index.value()]; }
  [[nodiscard]] std::size_t component_of(CallbackIndex callback) const {
    return executors[(*this)[callback].executor.value()].component;
  }

  std::vector<Task> tasks;
  std::vector<TriggerEdge> edges;
  std::vector<JoinInputs> joins;
  std::size_t partial_joins = 0;
  std::vector<LocalExecutor> executors;
  /// Upstream first: each comes after all components that activate it.
  std::vector<Component> components;

  /// Takes over from a model what may change between two analyses of it: an executor's supply, a
  /// callback's execution times, its activations. All else is as in the model compiled first.
  /// The first returns the executors that it concerns: those on the same processor may have become
  /// too many, or have room again.
  std::vector<ExecutorIndex> set_supply(const model::Model& model, ExecutorIndex executor);
  void set_cost(const model::Model& model, CallbackIndex callback);
  /// Returns the executors whose callbacks are ordered otherwise than before: rate-monotonic
  /// priorities and deadlines follow from periods. O(model).
  std::vector<ExecutorIndex> set_activation(const model::Model& model, CallbackIndex callback);

 private:
  void add_edges(const model::Model& model);
  void add_joins(const model::Model& model);
  void add_triggers(const model::Model& model);
  void add_propagation();
  void add_components();
  void add_urgencies(const model::Model& model);
  void inherit_urgencies(ExecutorIndex executor);
  void add_trees(ExecutorIndex index);
  [[nodiscard]] bool is_root(CallbackIndex callback) const;
  void add_deadline_chains(const model::Model& model, ExecutorIndex index);
  void add_groups(const model::Model& model);

  std::vector<std::size_t> edge_of_model_;
};

}  // namespace takt::analysis
