#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/execution/objects.hpp"
#include "takt/model/model.hpp"
#include "takt/replay/recording.hpp"

namespace takt::replay {

struct Difference {
  /// Which decision, from 0, and when its callback started.
  std::int64_t decision = 0;
  Instant when;
  model::CallbackIndex recorded;
  /// None: the simulated executor had nothing left to run.
  std::optional<model::CallbackIndex> simulated;
};

struct Comparison {
  model::ExecutorIndex executor;
  model::ExecutorKind kind = model::ExecutorKind::single_threaded;
  std::int64_t decisions = 0;
  std::int64_t agreeing = 0;
  std::optional<Difference> first_difference;
  /// Instances of a table-driven executor that started after the end of their slot, though the
  /// executor was idle at that end. The decision, which is not recorded, precedes the start, and a
  /// thread may lose its processor in between. They count as decided within the slot.
  std::int64_t at_end_of_slot = 0;
  /// Timers of a default executor that were stopped when they were ready but had not run yet. rcl
  /// does not call them any more.
  std::int64_t withdrawn = 0;
  /// Instances whose release is not in the recording. They are left out.
  std::int64_t without_release = 0;
  /// Why the order was not compared.
  std::string reason;
};

/// Simulates each executor that ran anything, as the kind that it announced. Releases are as
/// recorded, and each instance lasts from its recorded start to the start of the next one. An
/// executor of one thread learns of releases between two callbacks only, and the recording has them
/// in that order, so only the differences `at_end_of_slot` and `withdrawn` are legitimate.
[[nodiscard]] Result<std::vector<Comparison>> compare(const model::Model& model,
                                                      const execution::Objects& objects,
                                                      const Recording& recording);

}  // namespace takt::replay
