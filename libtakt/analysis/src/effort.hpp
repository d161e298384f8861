#pragma once

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

  /// From now on `units` units may be spent.
  void allow(std::int64_t units) {
    spent_ = spent();
    left_ = allowed_ = units;
  }
  void spend(std::size_t units) {
    left_ -= static_cast<std::int64_t>(units);
    if (left_ < 0) [[unlikely]]
      give_up();
  }
  /// Counts a pass over `callbacks` callbacks that looked at `seen` of them; the demand of the
  /// others has not changed.
  void spend_on_pass(std::size_t callbacks, std::size_t seen) {
    spend(seen + callbacks / passed_in_one_step + 1);
  }
  /// Counts what is spent from now on.
  void restart() { allowed_ = left_ = spent_ = 0; }
  /// All units that were spent since restart().
  [[nodiscard]] std::int64_t spent() const { return spent_ + allowed_ - left_; }

 private:
  static constexpr std::size_t passed_in_one_step = 8;

  [[noreturn, gnu::cold, gnu::noinline]] void give_up() {
    left_ = 0;
    throw Exhausted{};
  }

  /// The units of the last allow(), and how many of them are left.
  std::int64_t allowed_ = 0;
  std::int64_t left_ = 0;
  /// The units spent before the last allow().
  std::int64_t spent_ = 0;
};

/// The limits of a search.
struct Limits {
  /// Longer times are not of interest.
  Duration horizon{};
  Effort& effort;
};

}  // namespace takt::analysis
