#pragma once

#include <compare>
#include <cstdint>

namespace takt {

/// Where a callback stands among those that a polling point of the default executor admits
/// together, its ready set. Blocks run in any order, each of them as a whole. Within a block, lower
/// ranks run first, and equal ranks in any order.
struct WindowPlace {
  std::uint32_t block = 0;
  std::uint32_t rank = 0;
  auto operator<=>(const WindowPlace&) const = default;
};

/// Whether of two callbacks of one ready set `one` may run before `other`.
[[nodiscard]] constexpr bool may_precede(WindowPlace one, WindowPlace other) {
  return one.block != other.block || one.rank <= other.rank;
}

}  // namespace takt
