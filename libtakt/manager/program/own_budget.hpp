#pragma once

#include <algorithm>
#include <chrono>

#include "takt/time/time.hpp"

namespace takt::manager {

/// What the manager may use of the machine itself: a hundredth of a core as the mean of a minute.
/// What it does not use is saved up, for a minute at most. What decisions use beyond is owed, and
/// what reading a robot's events uses is owed for a minute at most: that cannot wait, and may cost
/// more than the hundredth by itself. Knows no clock.
class OwnBudget {
 public:
  static constexpr int share = 100;
  static constexpr Duration saved = Duration{std::chrono::seconds{60}} / share;

  /// Until now it has used so much processor time, in all its threads.
  void account(Instant now, Duration used) {
    if (now_ != Instant{}) {
      const Duration earned = left_ + (now - now_) / share;
      left_ = std::min(saved, std::max(earned - (used - used_), std::min(earned, -saved)));
    }
    now_ = now;
    used_ = used;
  }
  /// A decision has used that much of what is accounted next.
  void decided(Duration used) {
    left_ -= used;
    used_ += used;
  }
  /// Whether a decision can be paid. One that cannot wait, because something has come, gone or
  /// broken, may be paid from the next minute.
  [[nodiscard]] bool affords(bool is_urgent) const {
    return left_ > (is_urgent ? -saved : Duration{0});
  }

 private:
  Instant now_;
  Duration used_{};
  Duration left_ = saved;
};

}  // namespace takt::manager
