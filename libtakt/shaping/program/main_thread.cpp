#include "main_thread.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace takt::shaping {

namespace {

bool has_ended(const Descriptor& life) {
  pollfd state{.fd = life.get(), .events = POLLIN, .revents = 0};
  return poll(&state, 1, 0) != 0;
}

}  // namespace

std::optional<MainThread> MainThread::of(pid_t process) {
  Descriptor life(static_cast<int>(syscall(SYS_pidfd_open, process, 0)));
  if (!life) return std::nullopt;
  const auto former = linux_os::get_scheduling(process);
  if (!former || has_ended(life)) return std::nullopt;
  return MainThread(process, std::move(life), *former);
}

void MainThread::schedule(const linux_os::ThreadScheduling& scheduling) const {
  if (has_ended(life_)) return;
  static_cast<void>(linux_os::set_scheduling(process_, scheduling));
}

}  // namespace takt::shaping
