#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace takt::link {

/// Remembers which of the newest numbers have been seen, so that no packet is replayed and no
/// message is delivered twice. Numbers begin at 1. Constant time and memory.
class NumberWindow {
 public:
  /// How many of the newest numbers are remembered.
  static constexpr std::uint64_t width = 1024;

  /// Whether the number was seen, or is too old to tell.
  [[nodiscard]] bool seen(std::uint64_t number) const {
    if (number > highest_) return false;
    if (number == 0 || highest_ - number >= width) return true;
    return (word(number) >> (number % bits) & 1U) != 0;
  }

  void add(std::uint64_t number) {
    if (number > highest_) {
      const std::uint64_t first = std::max(highest_ + 1, number - std::min(number, width - 1));
      // Compared by `!=`: above the largest number, number + 1 is 0.
      for (std::uint64_t fresh = first; fresh != number + 1; ++fresh) clear(fresh);
      highest_ = number;
    } else if (highest_ - number >= width) {
      return;
    }
    word(number) |= std::uint64_t{1} << (number % bits);
  }

  [[nodiscard]] std::uint64_t highest() const { return highest_; }

 private:
  static constexpr std::uint64_t bits = 64;

  [[nodiscard]] std::size_t place(std::uint64_t number) const {
    return static_cast<std::size_t>(number / bits % words_.size());
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t number) const { return words_[place(number)]; }
  std::uint64_t& word(std::uint64_t number) { return words_[place(number)]; }
  void clear(std::uint64_t number) { word(number) &= ~(std::uint64_t{1} << (number % bits)); }

  std::array<std::uint64_t, width / bits> words_{};
  std::uint64_t highest_ = 0;
};

}  // namespace takt::link
