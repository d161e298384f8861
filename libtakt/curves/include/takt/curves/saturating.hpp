#pragma once

#include <cstdint>
#include <limits>

#include "takt/time/time.hpp"

/// Arithmetic of the analyses: on non-negative 64-bit integers, with a greatest element that stands
/// for "without bound". Results that do not fit are without bound, so that nothing ever wraps.
namespace takt::curves {

inline constexpr std::int64_t unbounded_count = std::numeric_limits<std::int64_t>::max();
inline constexpr Duration unbounded_time = Duration::max();

/// The longest time that a model or an option may contain: 10^15 ns, eleven days and a half.
inline constexpr Duration longest_time{1'000'000'000'000'000};

[[nodiscard]] constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? unbounded_count : sum;
}

[[nodiscard]] constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? unbounded_count : product;
}

[[nodiscard]] constexpr Duration saturating_add(Duration a, Duration b) {
  return Duration{saturating_add(a.count(), b.count())};
}

[[nodiscard]] constexpr Duration saturating_multiply(Duration a, std::int64_t b) {
  return Duration{saturating_multiply(a.count(), b)};
}

}  // namespace takt::curves
