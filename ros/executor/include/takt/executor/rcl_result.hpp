#pragma once

#include <rcl/types.h>

#include <string_view>

#include "takt/base/error.hpp"

namespace takt::executor {

/// The Result of an rcl call: on failure "cannot <action>: <what rcl says>". Clears rcl's error.
[[nodiscard]] Result<void> check(rcl_ret_t code, std::string_view action);

}  // namespace takt::executor
