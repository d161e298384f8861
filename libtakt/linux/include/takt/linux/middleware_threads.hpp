#pragma once

#include <sys/types.h>

#include <vector>

#include "takt/linux/thread_identity.hpp"

namespace takt::linux_os {

/// The threads of a process that belong to Fast DDS or Cyclone DDS, by the names that these give
/// their threads.
[[nodiscard]] std::vector<ThreadIdentity> middleware_threads(pid_t process);

/// Those of them that deliver messages: all but the ones for which no message waits. At a high
/// priority the others would do harm: Fast DDS's event thread does not sleep while a reader's
/// acknowledgement is due, and so may keep the thread that acknowledges from running.
[[nodiscard]] std::vector<ThreadIdentity> delivering_threads(pid_t process);

/// Those of them for which no message waits.
[[nodiscard]] std::vector<ThreadIdentity> middleware_chores(pid_t process);

}  // namespace takt::linux_os
