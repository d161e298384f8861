#pragma once

#include <concepts>
#include <cstddef>
#include <optional>

namespace takt::budget {

/// Changes of single callbacks are tried if at most this many callbacks matter.
inline constexpr std::size_t most_callbacks = 200;

/// The value nearest to `near`, from `near` to `far`, for which `holds` is true; none if it is
/// false for `far`. If it is true for a value, it must be true for all values from there to `far`.
template <std::signed_integral Value, typename Holds>
[[nodiscard]] std::optional<Value> closest(Value near, Value far, Holds holds) {
  if (!holds(far)) return std::nullopt;
  while (near != far) {
    const Value middle = near + (far - near) / 2;  // rounds towards near
    if (holds(middle)) {
      far = middle;
    } else {
      near = middle + (far > near ? 1 : -1);
    }
  }
  return far;
}

}  // namespace takt::budget
