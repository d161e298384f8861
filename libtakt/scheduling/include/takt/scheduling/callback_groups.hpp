#pragma once

#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// Which callbacks may run beside each other on several threads. A callback that is in neither list
/// runs beside all others but never twice at once.
struct CallbackGroups {
  /// Sets of callbacks of which one at most runs at any time; the others of its set wait.
  std::vector<std::vector<LocalIndex>> exclusive{};
  /// Callbacks that may run several times at once.
  std::vector<LocalIndex> reentrant{};
};

}  // namespace takt::scheduling
