#pragma once

#include <functional>

namespace takt::events {

/// Whether the work ends by itself. It is done in a child process, so that what it does to this one
/// is nothing, even if it aborts.
[[nodiscard]] bool ends_well(const std::function<void()>& work);

}  // namespace takt::events
