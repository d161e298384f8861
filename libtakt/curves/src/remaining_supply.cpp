#include "takt/curves/remaining_supply.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

Duration RemainingSupply::time_for(Duration demand) const {
  Duration window = demand < demand_ ? demand : window_ + (demand - demand_);
  while (window <= longest_time) {
    const Duration next = next_window(demand, window);
    if (next == window) {
      demand_ = demand;
      window_ = window;
      return window;
    }
    window = next;
  }
  return unbounded_time;
}

Duration RemainingSupply::supply(Duration window) const {
  Duration least = left(window);
  if (time_for(least + epsilon) > window) return least;
  // More was left of a part of the window.
  Duration most = window;
  while (most - least > epsilon) {
    const Duration middle = least + (most - least) / 2;
    (time_for(middle) <= window ? least : most) = middle;
  }
  return least;
}

}  // namespace takt::curves
