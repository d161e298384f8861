#pragma once

#include <cstdint>
#include <random>

namespace takt::testbed {

/// Random numbers that are the same on every machine: the engine is specified to the bit by the
/// standard, its distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [least, most].
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto options = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(engine_() % options);
  }

  [[nodiscard]] bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace takt::testbed
