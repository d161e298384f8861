#pragma once

#include <functional>

namespace takt::events {

/// Whether the work ends by itself. It runs in a child process, so it does nothing to this one,
/// even if it aborts.
[[nodiscard]] bool ends_well(const std::function<void()>& work);

}  // namespace takt::events
