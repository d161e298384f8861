#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace takt::fuzz {

/// Ends the program, and so makes the input a finding, if what must hold does not.
inline void require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

/// The decisions of the fuzzer, one after the other; zeros when the input is used up.
class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  [[nodiscard]] bool any() const { return !bytes_.empty(); }

  template <typename Integer>
  Integer next() {
    Integer value{};
    const std::size_t size = std::min(sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }

  /// A number from 0 to count - 1; `count` is at most 256.
  std::size_t below(std::size_t count) { return next<std::uint8_t>() % count; }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace takt::fuzz
