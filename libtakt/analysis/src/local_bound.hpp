#pragma once

#include <string_view>

#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A bound found by the analysis of one executor, and which analysis gave it.
struct LocalBound {
  /// unbounded_time: there is none.
  Duration response = curves::unbounded_time;
  std::string_view by;
};

}  // namespace takt::analysis
