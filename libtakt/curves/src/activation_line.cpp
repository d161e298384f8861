#include "takt/curves/activation_line.hpp"

#include <algorithm>

#include "takt/curves/saturating.hpp"

namespace takt::curves {

namespace {

constexpr Int128 unit = Int128{1} << ActivationLine::unit_bits;
/// Below these, no sum or product of a slope and a time overflows.
constexpr Int128 most_slope = unit;
constexpr Int128 most_start = unit << 62;

/// a / b in units, rounded up; a >= 0 and b < 2^60.
std::optional<Int128> units_of(Int128 a, Int128 b) {
  const Int128 whole = a / b;
  if (whole > most_start / unit) return std::nullopt;
  return whole * unit + (a % b * unit + b - 1) / b;
}

}  // namespace

std::optional<ActivationLine> ActivationLine::if_it_fits(Int128 slope, Int128 start) {
  if (slope > most_slope || start > most_start) return std::nullopt;
  return ActivationLine(slope, start);
}

/// Periodic: ⌈(Δ + J) / T⌉ = ⌊(Δ + J + T - ε) / T⌋. By super-additivity a curve that is given by
/// distances has η(Δ) <= k·Δ/d + k + 1, if k gaps span d in the long run.
std::optional<ActivationLine> ActivationLine::above(const ActivationCurve& curve,
                                                    std::int64_t multiplicity) {
  const auto [events, span, jitter] = curve.long_run();
  const Int128 each = multiplicity;
  if (each * events > span.count()) return std::nullopt;
  const auto slope = units_of(each * events, span.count());
  const auto start = curve.is_periodic()
                         ? units_of(each * (jitter + span - epsilon).count(), span.count())
                         : units_of(each * (events + 1), 1);
  if (!slope || !start) return std::nullopt;
  return if_it_fits(*slope, *start);
}

ActivationCurve::Plateau ActivationLine::plateau(Duration window) const {
  if (window <= Duration{0}) return {};
  const Int128 value = slope_ * window.count() + start_;
  const Int128 activations = value / unit;
  if (window == unbounded_time || activations >= unbounded_count) {
    return {unbounded_count, unbounded_time};
  }
  const auto count = static_cast<std::int64_t>(activations);
  if (slope_ == 0) return {count, unbounded_time};
  // Both fit into 64 bits, where a division is several times faster than in 128 bits.
  const auto left = static_cast<std::int64_t>(unit - 1 - value % unit);
  return {count, saturating_add(window, Duration{left / static_cast<std::int64_t>(slope_)})};
}

std::optional<ActivationLine> ActivationLine::shifted(Duration shift) const {
  if (shift == unbounded_time) return std::nullopt;
  return if_it_fits(slope_, start_ + slope_ * shift.count());
}

std::optional<ActivationLine> ActivationLine::plus(const ActivationLine& other) const {
  return if_it_fits(slope_ + other.slope_, start_ + other.start_);
}

std::optional<ActivationLine> ActivationLine::times(std::int64_t multiplicity) const {
  Int128 slope = 0;
  Int128 start = 0;
  if (__builtin_mul_overflow(slope_, Int128{multiplicity}, &slope) ||
      __builtin_mul_overflow(start_, Int128{multiplicity}, &start)) {
    return std::nullopt;
  }
  return if_it_fits(slope, start);
}

ActivationLine ActivationLine::larger(const ActivationLine& other) const {
  return {std::max(slope_, other.slope_), std::max(start_, other.start_)};
}

}  // namespace takt::curves
