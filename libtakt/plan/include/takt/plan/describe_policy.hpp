#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/scheduling/description.hpp"

namespace takt::plan {

/// Deadlines of the `edf` executor.
enum class EdfDeadlines {
  /// Per chain instance, one instance in progress (edf-executor 3), its deadline its own …
  per_instance,
  /// … or fixed when the previous instance completed.
  frozen_at_completion,
  /// Per instance of any callback of any graph, counted from the release of what triggered it.
  inherited,
  /// Per instance of any callback, counted from its own activation.
  per_callback,
};

/// What orders the roots of the `graph_aware` executor.
enum class RootOrder { priority, rate_monotonic, edf };

/// A slot of a table-driven executor, [start, end) within its cycle.
struct SlotOptions {
  Duration start{};
  Duration end{};
  std::string callback;
};

struct TableOptions {
  Duration cycle{};
  std::vector<SlotOptions> slots;
};

/// What a model leaves open about its executors' policies.
struct PolicyOptions {
  /// None: per_instance if the executor's chains allow it, else inherited.
  std::optional<EdfDeadlines> edf_deadlines;
  /// None: priority if a root has one, else edf if a root has a deadline, else rate_monotonic.
  std::optional<RootOrder> root_order;
  /// By executor id; before the model's own.
  std::map<std::string, TableOptions> tables;
};

struct DescribedPolicy {
  scheduling::PolicyDescription policy;
  /// Lines about what the policy could not follow.
  std::vector<std::string> warnings;
};

/// The policy of an executor of the model if it is of that kind: the one that is analysed,
/// simulated and run. Its callbacks are numbered in the order of model::callbacks_by_executor().
/// Errors: chains or slots that the kind cannot have.
[[nodiscard]] Result<DescribedPolicy> describe_policy(const model::Model& model,
                                                      model::ExecutorIndex executor,
                                                      model::ExecutorKind kind,
                                                      const PolicyOptions& options);

}  // namespace takt::plan
