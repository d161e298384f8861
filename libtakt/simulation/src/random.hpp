#pragma once

#include <cstdint>

#include "takt/base/int128.hpp"
#include "takt/time/time.hpp"

namespace takt::simulation {

/// What a random stream is for, so that no two share their numbers.
enum class Stream : std::uint64_t {
  execution,
  release,
  delay,
  reservation,
  order,
  suspension,
  before_link,
  withheld
};

/// Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014 (SplitMix64):
/// the same numbers on every machine, which the standard library's distributions do not promise.
class Random {
 public:
  Random(std::uint64_t seed, Stream stream, std::uint64_t index)
      : state_(mix(mix(seed + golden * static_cast<std::uint64_t>(stream)) + index)) {}

  /// The n-th number of the stream, without changing it.
  [[nodiscard]] std::uint64_t at(std::uint64_t n) const { return mix(state_ + golden * (n + 1)); }

  std::uint64_t next() { return mix(state_ += golden); }

  /// Uniform in [low, high].
  Duration between(Duration low, Duration high) { return low + scale(next(), high - low); }

  /// A uniform number as a duration in [0, longest].
  [[nodiscard]] static Duration scale(std::uint64_t number, Duration longest) {
    const auto values = static_cast<std::uint64_t>(longest.count()) + 1;
    return Duration(static_cast<std::int64_t>(UInt128{number} * values >> 64U));
  }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_;
};

}  // namespace takt::simulation
