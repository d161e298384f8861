#pragma once

#include <utility>

namespace takt {

/// The first two numbers of the running kernel's version; 0 and 0 if it does not say.
[[nodiscard]] std::pair<int, int> kernel_version();

}  // namespace takt
