#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "takt/events/utf8.hpp"

namespace takt::perfetto {

/// A message in the encoding of Protocol Buffers (protobuf.dev, "Encoding"): only what Perfetto's
/// traces need of it.
class Message {
 public:
  Message& number(std::uint32_t field, std::uint64_t value) {
    key(field, 0);
    varint(value);
    return *this;
  }
  Message& number(std::uint32_t field, std::int64_t value) {
    return number(field, static_cast<std::uint64_t>(value));
  }
  /// Negative numbers are extended to 64 bits, as protocol buffers do it.
  Message& number(std::uint32_t field, std::int32_t value) {
    return number(field, std::int64_t{value});
  }
  Message& number(std::uint32_t field, std::uint32_t value) {
    return number(field, std::uint64_t{value});
  }
  Message& fixed(std::uint32_t field, std::uint64_t value) {
    key(field, 1);
    for (int i = 0; i < 8; ++i) {
      bytes_ += static_cast<char>(value >> (8 * i));
    }
    return *this;
  }
  /// Adds a text from a trace; bytes that are not UTF-8 are replaced.
  Message& text(std::uint32_t field, std::string_view value) {
    std::string valid;
    events::append_utf8(value, valid);
    return bytes(field, valid);
  }
  Message& message(std::uint32_t field, const Message& value) { return bytes(field, value.bytes_); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  Message& bytes(std::uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  void key(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
      bytes_ += static_cast<char>(value | 0x80);
    }
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace takt::perfetto
