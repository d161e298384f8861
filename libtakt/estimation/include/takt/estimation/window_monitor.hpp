#pragma once

#include <algorithm>
#include <cstdint>

#include "takt/time/time.hpp"

namespace takt::estimation {

/// Compares the time that hand-overs really take with the window that the regions were computed
/// for. A hand-over is measured from the last sample with an input in the decision bound, after
/// which the input may have left it unseen, to the use of the first nonlinear estimate.
class WindowMonitor {
 public:
  explicit WindowMonitor(Duration window) : window_(window) {}

  void sampled_inside(Instant time) { last_inside_ = time; }

  /// Whether the hand-over that ends now took no longer than the window.
  bool used(Instant time) {
    latest_ = time - last_inside_;
    longest_ = std::max(longest_, latest_);
    ++count_;
    const bool is_within = latest_ <= window_;
    if (!is_within) ++exceeded_;
    return is_within;
  }

  [[nodiscard]] Duration since_inside(Instant time) const { return time - last_inside_; }
  [[nodiscard]] Duration window() const { return window_; }
  [[nodiscard]] Duration latest() const { return latest_; }
  [[nodiscard]] Duration longest() const { return longest_; }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t exceeded() const { return exceeded_; }

 private:
  Duration window_;
  Instant last_inside_{};
  Duration latest_{};
  Duration longest_{};
  std::uint64_t count_ = 0;
  std::uint64_t exceeded_ = 0;
};

}  // namespace takt::estimation
