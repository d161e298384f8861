#pragma once

#include <concepts>
#include <optional>

namespace takt::budget {

/// The value next to `near` in [far, near] or [near, far] for which it holds, if it does for `far`
/// and then for all values beyond any for which it does.
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
