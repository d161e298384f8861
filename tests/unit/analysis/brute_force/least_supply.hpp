#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "takt/curves/supply_bound.hpp"

namespace takt::brute_force {

/// A supply, ε by ε, of which nothing is known but its bound: sbf(Δ) at least in any window Δ.
class LeastSupply {
 public:
  explicit LeastSupply(const curves::SupplyBound& bound)
      : bound_(bound), needed_(static_cast<std::size_t>(bound.period().count()), never) {}

  /// What was supplied before counts no longer, as if the thread had not been there before.
  void begin_anew() { *this = LeastSupply(bound_); }

  /// Whether the next ε is supplied: if that is wanted, or if some window would get too little.
  bool next(bool wanted) {
    if (bound_.blackout() == Duration{0}) return true;
    const std::int64_t start = std::ssize(supplied_) - bound_.blackout().count();
    if (start >= 0) {
      // sbf(Δ + period) = sbf(Δ) + budget beyond the blackout, so of windows that began whole
      // periods apart one value tells what they need.
      std::int64_t& needed = needed_[place(start)];
      needed =
          std::max(needed + bound_.budget().count(), supplied_[static_cast<std::size_t>(start)]);
    }
    bool supplied = wanted;
    for (std::int64_t age = 0; age < std::min(start + 1, std::ssize(needed_)) && !supplied; ++age) {
      const Duration window = bound_.blackout() + Duration{age};
      supplied = needed_[place(start - age)] + bound_.supply(window).count() > supplied_.back();
    }
    supplied_.push_back(supplied_.back() + (supplied ? 1 : 0));
    return supplied;
  }

 private:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;

  [[nodiscard]] std::size_t place(std::int64_t start) const {
    return static_cast<std::size_t>(start % std::ssize(needed_));
  }

  curves::SupplyBound bound_;
  /// By instant: what was supplied before.
  std::vector<std::int64_t> supplied_{0};
  /// By start modulo the period: the supply before the last such start, or what would have to be
  /// supplied before it for windows that began earlier.
  std::vector<std::int64_t> needed_;
};

}  // namespace takt::brute_force
