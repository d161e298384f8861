#include "takt/executor/rcl_result.hpp"

#include <rcl/error_handling.h>

#include <algorithm>
#include <string>

namespace takt::executor {

Result<void> check(rcl_ret_t code, std::string_view action) {
  if (code == RCL_RET_OK) return {};
  std::string reason;
  if (rcl_error_is_set()) {
    reason = rcl_get_error_string().str;
    rcl_reset_error();
  }
  // rcl appends the place in its sources, which says nothing to a user, and may take several lines.
  reason.resize(std::min(reason.find(", at "), reason.size()));
  std::ranges::replace(reason, '\n', ' ');
  if (reason.empty()) reason = fmt::format("rcl error {}", code);
  return error("cannot {}: {}", action, reason);
}

}  // namespace takt::executor
