#pragma once

#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// Which callbacks may run beside each other on several threads. A callback that is in neither list
/// runs beside all others but never twice at once.
struct CallbackGroups {
  /// Sets of callbacks. At any time at most one callback of a set runs; the others wait.
  std::vector<std::vector<LocalIndex>> exclusive{};
  /// Callbacks that may run several times at once.
  std::vector<LocalIndex> reentrant{};
};

}  // namespace takt::scheduling
