#include "takt/yaml/quantities.hpp"

#include <array>
#include <limits>
#include <span>
#include <utility>

namespace takt::yaml {

namespace {

using Unit = std::pair<std::string_view, std::int64_t>;

constexpr std::array<Unit, 6> time_units{{
    {"s", 1'000'000'000},
    {"ms", 1'000'000},
    {"us", 1'000},
    {"µs", 1'000},  // U+00B5
    {"μs", 1'000},  // U+03BC
    {"ns", 1},
}};
constexpr std::int64_t longest = std::int64_t{100} * 365 * 86'400 * 1'000'000'000;

constexpr std::array<Unit, 5> byte_units{
    {{"", 1}, {"B", 1}, {"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}}};

constexpr std::array<Unit, 4> bandwidth_units{
    {{"bit/s", 1}, {"kbit/s", 1'000}, {"Mbit/s", 1'000'000}, {"Gbit/s", 1'000'000'000}}};
constexpr std::int64_t fastest = 1'000'000'000'000'000;

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A quantity above zero and at most `most`, counted in the unit whose size is 1.
std::optional<std::int64_t> parse(std::string_view text, std::span<const Unit> units,
                                  std::int64_t most) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (end == 0) return std::nullopt;
  const std::string_view number = text.substr(0, end);
  std::string_view name = text.substr(end);
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const auto& [unit, size] : units) {
    if (unit != name) continue;
    std::int64_t value = 0;
    std::int64_t digit_size = size;
    bool in_fraction = false;
    for (const char c : number) {
      if (!is_digit(c)) {
        if (std::exchange(in_fraction, true)) return std::nullopt;
        continue;
      }
      if (in_fraction) {
        digit_size /= 10;
        value += (c - '0') * digit_size;
      } else {
        if (value > most / 10) return std::nullopt;
        value = value * 10 + (c - '0') * size;
      }
    }
    if (value <= 0 || value > most) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Duration> parse_time(std::string_view text) {
  const auto time = parse(text, time_units, longest);
  return time ? std::optional(Duration{*time}) : std::nullopt;
}

std::optional<std::uint32_t> parse_bytes(std::string_view text) {
  const auto bytes = parse(text, byte_units, std::numeric_limits<std::uint32_t>::max());
  return bytes ? std::optional(static_cast<std::uint32_t>(*bytes)) : std::nullopt;
}

std::optional<std::int64_t> parse_bandwidth(std::string_view text) {
  return parse(text, bandwidth_units, fastest);
}

}  // namespace takt::yaml
