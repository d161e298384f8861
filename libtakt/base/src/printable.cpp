#include "takt/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace takt {

namespace {

struct Range {
  char32_t first;
  char32_t last;
};

/// Unicode's categories Cc, Cf, Zl and Zp, and the surrogates, as far as anything shows them.
constexpr std::array<Range, 14> invisible{{{0x0, 0x1f},
                                           {0x7f, 0x9f},
                                           {0xad, 0xad},
                                           {0x600, 0x605},
                                           {0x61c, 0x61c},
                                           {0x6dd, 0x6dd},
                                           {0x70f, 0x70f},
                                           {0x180e, 0x180e},
                                           {0x200b, 0x200f},
                                           {0x2028, 0x202e},
                                           {0x2060, 0x206f},
                                           {0xd800, 0xdfff},
                                           {0xfeff, 0xfeff},
                                           {0xfff9, 0xfffb}}};

/// The character at the beginning of a text that is not empty, and its length in bytes. What is no
/// UTF-8 is a control character of one byte.
struct Character {
  char32_t code = 0;
  std::size_t size = 1;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < size) return {};
  char32_t code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<char32_t, 3> least{0x80, 0x800, 0x10000};
  return code >= least[size - 2] && code <= 0x10ffff ? Character{code, size} : Character{};
}

bool is_visible(char32_t code) {
  constexpr Range tags{0xe0000, 0xe0fff};
  const auto has = [code](const Range& range) { return range.first <= code && code <= range.last; };
  return !has(tags) && std::ranges::none_of(invisible, has);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_of(text);
    result += is_visible(character.code) ? text.substr(0, character.size) : "\xef\xbf\xbd";
    text.remove_prefix(character.size);
  }
  return result;
}

}  // namespace takt
