#pragma once

#include <algorithm>
#include <cstdint>

namespace takt::synthesis {

/// Percent: how sure it is that one callback waits for another after it was seen to do so `times`
/// times. If it never was, both are as likely.
inline std::int64_t confidence_after(std::uint64_t times) {
  constexpr std::int64_t unproved = 50;
  constexpr std::int64_t most = 99;
  const auto n = static_cast<double>(times);
  return std::clamp(static_cast<std::int64_t>(100.0 * n / (n + 1.0)), unproved, most);
}

}  // namespace takt::synthesis
