#include "takt/events/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace takt::events {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

/// Length of the character that begins the text, 0 if none does (RFC 3629, section 4).
std::size_t character_length(std::string_view text) {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const auto continues = [byte](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const std::uint8_t first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return continues(1) ? 2 : 0;
  }
  if (first >= 0xe0 && first <= 0xef) {
    const bool is_shortest = first != 0xe0 || byte(1) >= 0xa0;
    const bool is_surrogate = first == 0xed && byte(1) >= 0xa0;
    return continues(1) && continues(2) && is_shortest && !is_surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool in_range = (first != 0xf0 || byte(1) >= 0x90) && (first != 0xf4 || byte(1) < 0x90);
    return continues(1) && continues(2) && continues(3) && in_range ? 4 : 0;
  }
  return 0;
}

}  // namespace

void append_utf8(std::string_view text, std::string& bytes) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = length == 0 ? replacement : text.substr(0, length);
    bytes += character;
    text.remove_prefix(length == 0 ? 1 : length);
  }
}

}  // namespace takt::events
