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

/// Derives from a timing model how its executors schedule. Analysis, simulation, plans, real
/// executors and the brute-force oracle all use this description; nothing else derives priorities,
/// deadlines, roots, chains or exclusion from a model.
namespace takt::policy {

/// The values that order the instances of a callback. If a callback inherits from several others
/// (graph-aware executor), an instance may have any value of the range.
struct Urgency {
  /// A larger priority is more urgent.
  std::int64_t least_priority = 0;
  std::int64_t greatest_priority = 0;
  /// Counted from the origin, the activation of the source.
  Duration shortest_deadline{};
  Duration longest_deadline{};
  /// Whether an instance may run before an older one of the same callback.
  bool overtakes = false;
  bool operator==(const Urgency&) const = default;
};

/// How an executor of a model schedules.
struct Description {
  model::ExecutorKind kind{};
  /// The executor's callbacks in the order of model::callbacks_by_executor(). A LocalIndex is a
  /// position in this list.
  std::vector<model::CallbackIndex> callbacks;
  /// The input of scheduling::make_policy(). For the graph-aware executor `is_root` says whether
  /// anything outside the executor activates the callback, even if only sometimes: its own
  /// activation, a message from another executor, or a message with a delay within this one.
  scheduling::PolicyDescription policy;
  /// By LocalIndex; empty if neither priorities nor deadlines order the instances.
  std::vector<Urgency> urgencies;
  /// Whether deadlines order the instances rather than priorities.
  bool by_deadline = false;
  /// Threads that the model gives the executor; 1 where the kind has one thread.
  std::int64_t threads = 1;
  /// Which callbacks exclude each other, if there are several threads. Each is in one of the lists.
  scheduling::CallbackGroups groups;
  /// A callback that is not the first of its chain in policy.chains, and that not only the callback
  /// before it activates. Its instances wait, perhaps for ever, until the chain comes to it.
  std::optional<model::CallbackIndex> activated_outside_chain;
  /// One line for each setting of the model or the options that the executor cannot follow.
  std::vector<std::string> warnings;
};

/// Describes executors of one model. The model must outlive the describer and stay as it is: after
/// a change (of a period, say) a new describer is made. Making one costs nothing. Facts that
/// several executors need (inherited urgencies: linear in the model's size as a rule) are computed
/// once, when the first executor that needs them is described.
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

/// The category by which executors order callbacks of the kind.
[[nodiscard]] scheduling::Category category(model::CallbackKind kind);

/// The period of an activation: the shortest mean distance of its activations in the long run.
[[nodiscard]] Duration period_of(const model::Activation& activation);

}  // namespace takt::policy
