#include "life.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "process.hpp"

namespace takt::capture {

Life::Life(pid_t process)
    : process_(process),
      descriptor_(static_cast<int>(syscall(SYS_pidfd_open, process, 0))),
      start_(descriptor_ ? 0 : start_of(process)) {}

bool Life::has_ended() const {
  if (descriptor_) {
    pollfd life{descriptor_.get(), POLLIN, 0};
    return poll(&life, 1, 0) > 0;
  }
  if (kill(process_, 0) != 0 && errno == ESRCH) {
    return true;
  }
  const std::uint64_t start = start_of(process_);  // 0 also if no file can be opened
  return start != 0 && start_ != 0 && start != start_;
}

}  // namespace takt::capture
