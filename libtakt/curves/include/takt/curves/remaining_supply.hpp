#pragma once

#include <optional>

#include "takt/base/int128.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// The supply that others leave of a processor. sbf(Δ) is the largest time that they leave in any
/// Δ' <= Δ, because a window supplies at least as much as its first part does.
///
/// What others take may change between two searches; renew() says so.
class RemainingSupply {
 public:
  RemainingSupply() = default;
  RemainingSupply(const RemainingSupply&) = delete;
  RemainingSupply& operator=(const RemainingSupply&) = delete;
  virtual ~RemainingSupply() = default;

  /// Others may take another time than before.
  virtual void renew() { demand_ = window_ = Duration{0}; }

  /// The least window with sbf(window) >= demand > 0; unbounded_time if it is beyond the longest
  /// time.
  [[nodiscard]] Duration time_for(Duration demand) const;
  /// sbf(window) for windows > 0.
  [[nodiscard]] Duration supply(Duration window) const;

  /// Shares of a processor are counted in units of 2^-40, times in units of 2^-40 ns.
  static constexpr int share_bits = 40;
  /// sbf(Δ) is at most this share of Δ; at least one unit.
  [[nodiscard]] virtual Int128 share() const = 0;
  /// sbf(Δ) >= share · Δ - lost.
  struct Line {
    Int128 share = 0;
    Int128 lost = 0;
  };
  /// None if no line fits.
  [[nodiscard]] virtual std::optional<Line> line_below() const = 0;

 private:
  /// What others leave at least of a window of that length.
  [[nodiscard]] virtual Duration left(Duration window) const = 0;
  /// Let no window shorter than this one have that much left. Returns a longer one of which the
  /// same holds, or this one if it has.
  [[nodiscard]] virtual Duration next_window(Duration demand, Duration window) const = 0;

  /// The last answer of time_for(): a longer demand waits at least as long.
  mutable Duration demand_{};
  mutable Duration window_{};
};

}  // namespace takt::curves
