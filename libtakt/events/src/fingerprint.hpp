#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/int128.hpp"

namespace takt::events {

/// A 64-bit hash of bytes that come in pieces: multiplication of 64-bit words, in two lanes, so
/// that it keeps up with reading. It tells changed traces apart; somebody who wants two traces to
/// have the same hash can make them.
class ContentHash {
 public:
  void add(std::span<const std::uint8_t> bytes) {
    size_ += bytes.size();
    while (!bytes.empty() && (pending_ != 0 || bytes.size() < block_.size())) {
      block_[pending_++] = bytes.front();
      bytes = bytes.subspan(1);
      if (pending_ == block_.size()) {
        mix(block_.data());
        pending_ = 0;
      }
    }
    for (; bytes.size() >= block_.size(); bytes = bytes.subspan(block_.size())) {
      mix(bytes.data());
    }
    if (!bytes.empty()) {
      add_rest(bytes);
    }
  }

  [[nodiscard]] std::uint64_t value() const {
    std::uint64_t hash = size_;
    const auto add = [&hash](std::uint64_t word) {
      hash = (hash ^ word) * prime;
      hash ^= hash >> 29;
    };
    for (const auto lane : lanes_) {
      add(lane);
    }
    for (std::size_t i = 0; i < pending_; ++i) {
      add(block_[i]);
    }
    return hash;
  }
  [[nodiscard]] std::string hex() const { return fmt::format("{:016x}", value()); }

 private:
  static constexpr std::uint64_t prime = 0x9e3779b97f4a7c15;

  void add_rest(std::span<const std::uint8_t> bytes) {
    std::memcpy(block_.data(), bytes.data(), bytes.size());
    pending_ = bytes.size();
  }

  /// Combines both halves of the product, so that the result depends on all bits of both factors.
  static std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
    const UInt128 product = UInt128{a} * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }

  void mix(const std::uint8_t* block) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), block, sizeof words);
    lanes_[0] = multiply(words[0] ^ lanes_[0], words[1] ^ keys[0]) ^ std::rotl(lanes_[0], 23);
    lanes_[1] = multiply(words[2] ^ lanes_[1], words[3] ^ keys[1]) ^ std::rotl(lanes_[1], 23);
  }

  static constexpr std::array<std::uint64_t, 2> keys{0xa4093822299f31d0, 0x082efa98ec4e6c89};
  std::array<std::uint64_t, 2> lanes_{0x243f6a8885a308d3, 0x13198a2e03707344};
  std::array<std::uint8_t, 32> block_{};
  std::size_t pending_ = 0;  // bytes of the block
  std::uint64_t size_ = 0;
};

inline void add(ContentHash& hash, std::string_view text) {
  hash.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace takt::events
