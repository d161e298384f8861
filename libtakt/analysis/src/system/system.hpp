#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "system/cost.hpp"
#include "takt/base/window_place.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/model/model.hpp"
#include "takt/policy/describe.hpp"
#include "takt/scheduling/description.hpp"

namespace takt::analysis {

using model::CallbackIndex;
using model::ExecutorIndex;

/// A callback as the analyses see it.
struct Task {
  ExecutorIndex executor;
  Cost cost;
  /// Whether it is sampled at polling points; other callbacks are privileged.
  bool polled = true;
  /// Position in its executor, 0 most urgent; also its scheduling::LocalIndex.
  std::size_t rank = 0;
  /// Its place in the ready sets of a default executor.
  WindowPlace place{};
  /// Activations of its own, from outside the model, in addition to those by edges.
  std::optional<curves::ActivationCurve> own{};
  /// The same, as the model gives them.
  std::optional<model::Activation> activation{};
  bool is_timer = false;
  /// Whether messages to it do not activate it.
  bool samples = false;
  std::optional<std::int64_t> queue_depth{};
  /// Edges that activate it; indices into System::edges.
  std::vector<std::size_t> incoming{};
  /// How many local edges lead from it (TriggerEdge::local).
  std::int64_t local_sends = 0;
  /// The join of some of the incoming edges; index into System::joins.
  std::optional<std::size_t> join{};
  policy::Urgency urgency{};
  /// Callbacks of an executor of several threads with equal numbers exclude each other; none:
  /// reentrant.
  std::optional<std::size_t> group{};

  /// Whether no edge activates it.
  [[nodiscard]] bool is_source() const { return incoming.empty(); }
};

/// An edge whose messages activate their receiver, alone or at its join.
struct TriggerEdge {
  CallbackIndex from;
  CallbackIndex to;
  Duration delay{};
  /// On one executor and without delay: the receiver is pending as soon as the sender publishes.
  bool local = false;
  /// Incoming edges of `from` whose activations make it publish here; none: any activation. Edges
  /// from one callback with equal trigger sets share the list.
  std::shared_ptr<const std::vector<std::size_t>> triggers{};
  /// `triggers` holds some inputs of a join of `from`: index into System::partial_joins.
  std::optional<std::size_t> partial_join{};
  /// Whether only some of the instances that could send along it do so.
  bool has_share = false;
  /// Index into Model::edges.
  std::size_t in_model = 0;
};

struct JoinInputs {
  model::JoinKind kind = model::JoinKind::and_;
  CallbackIndex callback;
  /// The edges of each input.
  std::vector<std::vector<std::size_t>> inputs;
  /// The edges of all inputs.
  std::vector<std::size_t> edges;
};

/// One step of the propagation of curves through an executor (see propagation.hpp).
struct PropagationStep {
  enum class Kind { activations, join, edge };
  Kind kind;
  /// The callback's index, or an index into System::joins or System::edges, by `kind`.
  std::size_t index;
};

class SharedCore;

struct LocalExecutor {
  /// The only account of priorities, deadlines, roots, chains, groups and slots.
  policy::Description description;
  /// The supply in any window in which its thread is ready or suspended.
  curves::SupplyBound supply = curves::SupplyBound::dedicated();
  /// The supply in windows that begin when neither the executor, or the level that counts, nor
  /// whoever goes before it on its processor has anything left to do. The same for all but threads
  /// at fixed priorities.
  curves::SupplyBound supply_from_quiet = curves::SupplyBound::dedicated();
  /// Where both come from, if it shares a processor by fixed priorities; else null.
  std::shared_ptr<SharedCore> shared_core{};
  /// Executors that it takes time from by its fixed priority.
  std::vector<ExecutorIndex> disturbed{};
  /// The cost of each release, see model::Executor.
  Duration release_overhead{};
  /// See model::Executor; 0: instances run to their end.
  Duration longest_piece{};
  /// Why it cannot count on its supply (see cpu_sharing.hpp); empty: it can.
  std::string contention;
  /// Why there is no description, or why it tells nothing; empty: there is one.
  std::string undescribed;
  /// Most urgent first.
  std::vector<CallbackIndex> callbacks;
  /// The steps that lead from the curves of the edges that enter to those of the edges that leave,
  /// each step after those that it needs.
  std::vector<PropagationStep> propagation;
  /// Whether some message takes time within it, and so arrives like one from another executor.
  bool delayed = false;
  /// Executors with callbacks that these edges activate, without itself.
  std::vector<ExecutorIndex> successors;
  /// Index into System::components.
  std::size_t component = 0;
};

/// Executors that activate each other's callbacks, directly or not. Their bounds can only be found
/// together. Most components are a single executor.
struct Component {
  std::vector<ExecutorIndex> executors;
  /// Whether a trigger set couples callbacks of the component.
  bool coupled = false;
  /// Edges to other components; indices into System::edges.
  std::vector<std::size_t> leaving;
};

/// A compiled model: everything that stays the same during the search for bounds.
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
  /// The callbacks of each chain.
  std::vector<std::vector<CallbackIndex>> chains;
  /// Upstream first: each comes after all components that activate it.
  std::vector<Component> components;

  /// Take over from a model what may change between two analyses of it: an executor's supply, a
  /// callback's execution times, its activations. All else is as in the model compiled first.
  /// set_supply() returns the executors that it concerns: the reservations on the same processor
  /// may no longer fit, or fit again, or leave others more or less.
  std::vector<ExecutorIndex> set_supply(const model::Model& model, ExecutorIndex executor);
  void set_cost(const model::Model& model, CallbackIndex callback);
  /// Returns the executors whose callbacks now have another order: rate-monotonic priorities and
  /// deadlines follow from periods. O(model).
  std::vector<ExecutorIndex> set_activation(const model::Model& model, CallbackIndex callback);

 private:
  void add_edges(const model::Model& model);
  void add_joins(const model::Model& model);
  void add_triggers(const model::Model& model);
  void order_propagation();
  void add_components();
  void describe_executors(policy::Describer& describer);
  /// Takes over the supply of the model.
  void supply_executor(const model::Model& model, ExecutorIndex executor);

  std::vector<std::size_t> edge_of_model_;
};

}  // namespace takt::analysis
