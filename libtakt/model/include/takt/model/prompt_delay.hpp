#pragma once

#include <chrono>

namespace takt::model {

/// A message takes at most this long to a thread that gets a processor when it needs one: what is
/// counted on until it was seen. Whoever does so checks it as soon as it can be seen.
inline constexpr std::chrono::milliseconds prompt_delay{20};

}  // namespace takt::model
