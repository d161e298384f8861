#pragma once

#include "takt/base/error.hpp"

namespace takt::capture::lttng {

/// Makes sure that an LTTng session daemon serves this user: root's, which members of group
/// `tracing` may use too, or one of the user's own. Starts one if none answers; it then stays, as
/// with the lttng command, because the processes that register with it outlive the recording.
/// Errors: LTTng is not installed; the daemon cannot start.
[[nodiscard]] Result<void> ensure_daemon();

}  // namespace takt::capture::lttng
