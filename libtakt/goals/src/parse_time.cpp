#include "takt/goals/parse_time.hpp"

#include <array>
#include <cstdint>
#include <utility>

namespace takt::goals {

namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> units{{
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"µs", 1'000},  // U+00B5
    {"μs", 1'000},  // U+03BC
    {"ns", 1},
}};

constexpr std::int64_t longest = std::int64_t{100} * 365 * 86'400 * 1'000'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Duration> parse_time(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(0, end);
  std::string_view name = text.substr(end);
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const auto& [unit, size] : units) {
    if (unit != name) continue;
    std::int64_t time = 0;
    std::int64_t digit_size = size;
    bool in_fraction = false;
    for (const char c : number) {
      if (!is_digit(c)) {
        if (std::exchange(in_fraction, true)) return std::nullopt;
        continue;
      }
      if (in_fraction) {
        digit_size /= 10;
        time += (c - '0') * digit_size;
      } else {
        if (time > longest / 10) return std::nullopt;
        time = time * 10 + (c - '0') * size;
      }
    }
    if (time <= 0 || time > longest) return std::nullopt;
    return Duration{time};
  }
  return std::nullopt;
}

}  // namespace takt::goals
