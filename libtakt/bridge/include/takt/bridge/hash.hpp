#pragma once

#include <cstdint>
#include <ranges>

namespace takt::bridge {

/// FNV-1a, which every build and every machine computes alike. Goes on from `begin`.
constexpr std::uint64_t hash_begin = 14'695'981'039'346'656'037U;
template <std::ranges::input_range Bytes>
[[nodiscard]] constexpr std::uint64_t hash(const Bytes& bytes, std::uint64_t begin = hash_begin) {
  std::uint64_t value = begin;
  for (const auto byte : bytes) {
    value = (value ^ static_cast<std::uint8_t>(byte)) * 1'099'511'628'211U;
  }
  return value;
}

}  // namespace takt::bridge
