#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace takt::generation {

/// Random numbers that are the same on every machine: the standard specifies the engine to the bit,
/// but not its distributions.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [least, most].
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    const auto options = static_cast<std::uint64_t>(most - least) + 1;
    return least + static_cast<std::int64_t>(engine_() % options);
  }

  [[nodiscard]] bool chance(int percent) { return between(1, 100) <= percent; }

  /// Any element of a list that is not empty.
  template <typename T>
  [[nodiscard]] const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, std::ssize(from) - 1))];
  }

  template <typename T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1],
                list[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace takt::generation
