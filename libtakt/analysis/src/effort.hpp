#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "takt/time/time.hpp"

namespace takt::analysis {

/// Limits the work of searches. A unit of work is to look at what one callback demands: some
/// nanoseconds, but counted and not timed, so that the same model has the same bounds on every
/// machine.
class Effort {
 public:
  /// Thrown through the analyses, which need not know that there is a limit: the fixed point
  /// catches it and falls back on a coarser bound.
  struct Exhausted {};

  /// From now on so many units may be spent.
  void allow(std::int64_t units) { left_ = units; }
  void spend(std::size_t units) {
    const auto needed = static_cast<std::int64_t>(units);
    spent_ += std::min(needed, left_);
    left_ -= needed;
    if (left_ >= 0) return;
    left_ = 0;
    throw Exhausted{};
  }
  /// So many callbacks were passed over because what they demand has not changed.
  void spend_on_passing(std::size_t callbacks) { spend(callbacks / passed_in_one_step + 1); }
  /// Counts what is spent from now on.
  void restart() { spent_ = 0; }
  /// All units that were spent since restart().
  [[nodiscard]] std::int64_t spent() const { return spent_; }

 private:
  static constexpr std::size_t passed_in_one_step = 8;

  std::int64_t left_ = 0;
  std::int64_t spent_ = 0;
};

/// Where a search ends.
struct Limits {
  /// Longer times are not of interest.
  Duration horizon{};
  Effort& effort;
};

}  // namespace takt::analysis
