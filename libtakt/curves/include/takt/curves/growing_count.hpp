#pragma once

#include <cstddef>
#include <cstdint>

#include "takt/curves/activation_curve.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// Counts the activations of a curve in windows that only grow, while the curve may grow as well.
/// A new count is needed only for a window that is longer than until(). If the curve is a single
/// curve of the model, shifted, a count stays valid when the shift grows.
class GrowingCount {
 public:
  explicit GrowingCount(const DerivedCurve& curve) : curve_(&curve) { renew(); }

  /// The curve may have grown.
  void renew() {
    const ActivationCurve* single = curve_->single();
    if (single == nullptr || single != single_) level_ = {0, Duration{-1}};
    single_ = single;
    shift_ = single == nullptr ? Duration{0} : curve_->terms().front().shift;
  }

  /// Counts the activations in `window`, which is longer than until().
  void count(Duration window) {
    if (single_ != nullptr && window > Duration{0}) {
      level_ = single_->plateau(saturating_add(window, shift_));
    } else {
      level_ = curve_->plateau(window);
      level_.until += shift_;
    }
  }

  [[nodiscard]] std::int64_t count() const { return level_.count; }
  /// See DerivedCurve::weight().
  [[nodiscard]] std::size_t weight() const { return single_ != nullptr ? 1 : curve_->weight(); }
  /// The longest window for which the count holds; unbounded_time if it holds for all.
  [[nodiscard]] Duration until() const {
    return level_.until == unbounded_time ? level_.until : level_.until - shift_;
  }

 private:
  const DerivedCurve* curve_;
  const ActivationCurve* single_ = nullptr;
  Duration shift_{};
  Plateau level_{0, Duration{-1}};
};

}  // namespace takt::curves
