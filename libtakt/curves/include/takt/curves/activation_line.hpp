#pragma once

#include <cstdint>
#include <optional>

#include "takt/base/int128.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// A line that bounds activations: at most ⌊slope·Δ + start⌋ in any window of length Δ > 0. It
/// replaces a sum of curves that has become too long.
class ActivationLine {
 public:
  /// Slope and start are counted in units of 2^-60 activations.
  static constexpr int unit_bits = 60;

  /// The same number of activations in every window.
  [[nodiscard]] static ActivationLine constant(std::int64_t activations) {
    return {0, Int128{activations} << unit_bits};
  }
  /// The line above `multiplicity` times the curve; none if it is steeper than one activation per
  /// nanosecond or starts above 2^62 activations.
  [[nodiscard]] static std::optional<ActivationLine> above(const ActivationCurve& curve,
                                                           std::int64_t multiplicity);

  ActivationLine() = default;
  bool operator==(const ActivationLine&) const = default;

  [[nodiscard]] Int128 slope() const { return slope_; }
  [[nodiscard]] Int128 start() const { return start_; }

  [[nodiscard]] std::int64_t count(Duration window) const { return plateau(window).count; }
  /// See ActivationCurve::plateau().
  [[nodiscard]] ActivationCurve::Plateau plateau(Duration window) const;

  /// This line at Δ + shift, the sum of two lines, and a multiple of this one; none if the result
  /// exceeds the same limits.
  [[nodiscard]] std::optional<ActivationLine> shifted(Duration shift) const;
  [[nodiscard]] std::optional<ActivationLine> plus(const ActivationLine& other) const;
  [[nodiscard]] std::optional<ActivationLine> times(std::int64_t multiplicity) const;
  /// A line above both.
  [[nodiscard]] ActivationLine larger(const ActivationLine& other) const;
  [[nodiscard]] bool below(const ActivationLine& other) const {
    return slope_ <= other.slope_ && start_ <= other.start_;
  }

 private:
  ActivationLine(Int128 slope, Int128 start) : slope_(slope), start_(start) {}
  [[nodiscard]] static std::optional<ActivationLine> if_it_fits(Int128 slope, Int128 start);

  Int128 slope_ = 0;
  Int128 start_ = 0;
};

}  // namespace takt::curves
