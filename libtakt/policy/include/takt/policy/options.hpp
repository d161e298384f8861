#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::policy {

/// Deadlines of the `edf` executor.
enum class EdfDeadlines {
  /// Each chain instance has its own, and a chain has one instance in progress (edf-executor 3).
  per_instance,
  /// As per_instance, but fixed when the chain's previous instance completed.
  frozen_at_completion,
  /// Each instance of any callback has one, counted from the release of the source that caused it.
  inherited,
  /// Each instance of any callback has one, counted from its own activation.
  per_callback,
};

/// The order of the roots of the `graph_aware` executor.
enum class RootOrder { priority, rate_monotonic, edf };

/// A slot of a table-driven executor, [start, end) within its cycle.
struct SlotOptions {
  Duration start{};
  Duration end{};
  /// The id of the callback whose instances start in the slot.
  std::string callback;
};

struct TableOptions {
  Duration cycle{};
  std::vector<SlotOptions> slots;
};

/// Choices that a model leaves open.
struct Options {
  /// None: per_instance if the executor's chains allow it, else inherited.
  std::optional<EdfDeadlines> edf_deadlines;
  /// None: priority if a root has one, else edf if a root has a deadline, else rate_monotonic.
  std::optional<RootOrder> root_order;
  /// Tables by executor id; they replace the tables of the model.
  std::map<std::string, TableOptions> tables;
};

}  // namespace takt::policy
