#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/policy/options.hpp"
#include "takt/scheduling/description.hpp"

/// Executor plans: the rule by which each executor of a running system decides, in terms of the
/// entities that its nodes have anyway. All three ways to run executors read plans
/// (docs/executors.md).
namespace takt::plan {

/// How an entity is found in node code that knows nothing of the plan.
struct Address {
  /// Fully qualified.
  std::string node;
  model::CallbackKind kind = model::CallbackKind::timer;
  /// A subscription's topics (a join takes messages of several), or the name of the service that a
  /// service or client belongs to; fully qualified.
  std::vector<std::string> topics{};
  /// Only timers have one.
  std::optional<Duration> period{};
  /// For each topic, or once if there are none: the position among the node's entities of the same
  /// kind and topic, or period, in the order in which the node makes them.
  std::vector<std::size_t> ordinals{0};
};

struct CallbackPlan {
  std::string id;
  Address address;
  /// The callback group that the model names; empty: the node decides.
  std::string group{};
};

struct ExecutorPlan {
  std::string id;
  model::ExecutorKind kind = model::ExecutorKind::events;
  std::int64_t threads = 1;
  std::optional<std::int64_t> cpu{};
  model::Supply supply{};
  /// In the order of `policy.callbacks`.
  std::vector<CallbackPlan> callbacks{};
  scheduling::PolicyDescription policy{};
};

struct Plan {
  std::string name;
  /// JSON text.
  std::string provenance = "{}";
  std::vector<ExecutorPlan> executors;
  std::vector<std::string> warnings{};
};

/// The plan of a model. Its executors are of the kind `kind`, or of their own kind if none is
/// given. Event sources are left out.
[[nodiscard]] Result<Plan> make_plan(const model::Model& model,
                                     std::optional<model::ExecutorKind> kind,
                                     const policy::Options& options);

/// Whether Linux can give the executor its supply. Error: slots, which no Linux scheduler provides.
[[nodiscard]] Result<void> check_supply(const model::Executor& executor);

/// The `takt/plan` version 1 document.
[[nodiscard]] std::string to_json(const Plan& plan);

/// `source` names the document in messages, which name the field.
[[nodiscard]] Result<Plan> parse_plan(std::string_view text, std::string_view source);

/// Reads a file of at most 64 MiB.
[[nodiscard]] Result<Plan> read_plan(const std::string& path);

/// The executor with that id, or the only one if the id is empty. The error lists the ids.
[[nodiscard]] Result<const ExecutorPlan*> find_executor(const Plan& plan, std::string_view id);

/// Reads a file for the program whose executor has that id (see find_executor()): the plan is left
/// with this executor alone. Its warnings are for the program's log.
[[nodiscard]] Result<Plan> read_plan(const std::string& path, std::string_view executor);

/// An entity of a running program.
struct Entity {
  std::string node;
  model::CallbackKind kind = model::CallbackKind::timer;
  /// Topic of a subscription, name of a service or client; fully qualified.
  std::string topic{};
  std::optional<Duration> period{};
};

/// The match of a plan with the entities that a program really has.
struct Assignment {
  /// By entity: the callback of `policy`. Entities of the same planned callback share one.
  std::vector<scheduling::LocalIndex> callbacks;
  scheduling::PolicyDescription policy;
  /// Ids of planned callbacks that match no entity, and so never run.
  std::vector<std::string> missing;
  /// Positions of entities that the plan does not name: they run after all others.
  std::vector<std::size_t> unplanned;
};

/// Matches `entities`, in the order in which their nodes made them, with the plan.
[[nodiscard]] Assignment assign(const ExecutorPlan& planned, std::span<const Entity> entities);

/// The warning for an executor of which all entities should be there, and some callbacks are still
/// missing.
[[nodiscard]] std::string describe_missing(const ExecutorPlan& planned,
                                           std::span<const std::string> missing);

}  // namespace takt::plan
