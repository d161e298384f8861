#pragma once

#include <algorithm>

#include "takt/curves/saturating.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// The least x >= start with sbf(x) >= demand(x), or unbounded_time if it is beyond `limit`
/// (ros-llama S-2.2). `demand` is monotone, and there is no solution below `start` >= ε. Each step
/// jumps to where the demand so far is supplied: no solution can lie before that.
template <typename Demand>
[[nodiscard]] Duration least_solution(const SupplyBound& supply, Duration start, Duration limit,
                                      Demand demand) {
  Duration x = start;
  while (x <= limit) {
    const Duration next = std::max(x, supply.time_for(demand(x)));
    if (next == x) return x;
    x = next;
  }
  return unbounded_time;
}

}  // namespace takt::curves
