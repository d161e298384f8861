#pragma once

#include <cstdint>
#include <cstring>

#include "ctf_metadata.hpp"

namespace takt::events::ctf {

/// A position in the content of a packet. Every read is checked against its end.
class Cursor {
 public:
  Cursor() = default;
  Cursor(const std::uint8_t* data, std::uint64_t bits) : data_(data), end_(bits) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  [[nodiscard]] std::uint64_t remaining() const { return end_ - position_; }
  [[nodiscard]] bool at_end() const { return position_ >= end_; }
  void shorten(std::uint64_t bits) { end_ = bits; }

  /// The next byte, if the position is on one.
  [[nodiscard]] const std::uint8_t* byte() const { return data_ + position_ / 8; }
  [[nodiscard]] bool is_on_byte() const { return position_ % 8 == 0; }

  bool skip(std::uint64_t bits) {
    if (bits > remaining()) {
      return false;
    }
    position_ += bits;
    return true;
  }

  /// `align`: bits, a power of two.
  bool align(std::uint32_t align) { return skip((0 - position_) & (align - 1)); }

  /// Reads an aligned integer of the type; signed ones are extended to 64 bits.
  bool read(const Type& type, std::uint64_t& value) {
    if (!align(type.align) || type.size > remaining()) {
      return false;
    }
    value = is_on_byte() && type.size % 8 == 0 ? whole_bytes(type) : bits(type.size);
    // An integer has at least one bit. NOLINTNEXTLINE(clang-analyzer-core.BitwiseShift)
    if (type.is_signed && type.size < 64 && (value >> (type.size - 1)) != 0) {
      value |= ~std::uint64_t{0} << type.size;
    }
    position_ += type.size;
    return true;
  }

 private:
  [[nodiscard]] std::uint64_t whole_bytes(const Type& type) const {
    const std::uint8_t* const bytes = byte();
    std::uint64_t value = 0;
    const std::uint32_t count = type.size / 8;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t shift = 8 * (type.is_big_endian ? count - 1 - i : i);
      value |= std::uint64_t{bytes[i]} << shift;
    }
    return value;
  }
  /// Little-endian: the first bit is the least significant of its byte.
  [[nodiscard]] std::uint64_t bits(std::uint32_t size) const {
    std::uint64_t value = 0;
    for (std::uint32_t i = 0; i < size;) {
      const std::uint64_t at = position_ + i;
      const auto offset = static_cast<std::uint32_t>(at % 8);
      const std::uint32_t count = size - i < 8 - offset ? size - i : 8 - offset;
      const std::uint64_t piece = (data_[at / 8] >> offset) & ((1u << count) - 1);
      value |= piece << i;
      i += count;
    }
    return value;
  }

  const std::uint8_t* data_ = nullptr;
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace takt::events::ctf
