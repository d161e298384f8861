#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/policy/options.hpp"
#include "takt/scheduling/callback_groups.hpp"
#include "takt/scheduling/description.hpp"

/// What a timing model asks of an executor's scheduling, described once. Analysis, simulation,
/// plans, real executors and the brute-force oracle all decide by this description; nothing else
/// derives priorities, deadlines, roots, chains or exclusion from a model.
namespace takt::policy {

/// What orders the instances of a callback. Where a callback inherits from several others
/// (graph-aware executor), an instance may have any value of the range.
struct Urgency {
  /// A larger priority is more urgent.
  std::int64_t least_priority = 0;
  std::int64_t greatest_priority = 0;
  /// Counted from the origin, the activation of the source.
  Duration shortest_deadline{};
  Duration longest_deadline{};
  /// An instance may run before an older one of the same callback.
  bool overtakes = false;
  bool operator==(const Urgency&) const = default;
};

/// An executor of a model as it schedules.
struct Description {
  model::ExecutorKind kind{};
  /// The executor's callbacks in the order of model::callbacks_by_executor(). A LocalIndex is a
  /// position in this list.
  std::vector<model::CallbackIndex> callbacks;
  /// What scheduling::make_policy() takes. For the graph-aware executor `is_root` says whether
  /// anything outside the executor activates the callback, be it only sometimes: its own
  /// activation, a message from another executor, or one that takes time within it.
  scheduling::PolicyDescription policy;
  /// By LocalIndex; empty if neither priorities nor deadlines order the instances.
  std::vector<Urgency> urgencies;
  /// Deadlines order instances rather than priorities.
  bool by_deadline = false;
  /// Threads that the model gives the executor; 1 where the kind has one thread.
  std::int64_t threads = 1;
  /// Which callbacks exclude each other, if there are several threads. Each is in one of the lists.
  scheduling::CallbackGroups groups;
  /// A callback, not the first of its chain in policy.chains, that something else than the callback
  /// before it activates: its instance waits, perhaps for ever, for the chain to come to it.
  std::optional<model::CallbackIndex> activated_outside_chain;
  /// Lines about wishes of the model or the options that the executor cannot follow.
  std::vector<std::string> warnings;
};

/// Describes executors of one model. The model must outlive the describer and stay as it is: after
/// a change (of a period, say) a new describer is made. Making one costs nothing; what several
/// executors need (inherited urgencies: linear in the model's size as a rule) is found once, when
/// the first executor that needs it is described.
class Describer {
 public:
  explicit Describer(const model::Model& model, Options options = {});
  ~Describer();
  Describer(const Describer&) = delete;
  Describer& operator=(const Describer&) = delete;

  /// The executor's callbacks in the order of model::callbacks_by_executor().
  [[nodiscard]] const std::vector<model::CallbackIndex>& callbacks(model::ExecutorIndex executor);

  /// The executor as it is, or as if it were of that kind.
  /// Errors: chains or slots that the kind cannot have.
  [[nodiscard]] Result<Description> describe(model::ExecutorIndex executor);
  [[nodiscard]] Result<Description> describe(model::ExecutorIndex executor,
                                             model::ExecutorKind kind);

 private:
  std::unique_ptr<class ModelFacts> facts_;
  Options options_;
};

/// Describes one executor of a model.
[[nodiscard]] Result<Description> describe(const model::Model& model, model::ExecutorIndex executor,
                                           model::ExecutorKind kind, const Options& options = {});

/// What executors sort a callback of the kind into.
[[nodiscard]] scheduling::Category category(model::CallbackKind kind);

/// The period of an activation: the shortest distance that its activations keep in the long run.
[[nodiscard]] Duration period_of(const model::Activation& activation);

}  // namespace takt::policy
