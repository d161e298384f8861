#include "daemon.hpp"

#include <fcntl.h>
#include <lttng/lttng.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace takt::capture::lttng {

namespace {

/// The last line that a program wrote to a file, without its line end.
std::string last_line(int file) {
  std::array<char, 4096> text{};
  const ssize_t length = pread(file, text.data(), text.size(), 0);
  std::string_view written(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  while (written.ends_with('\n')) {
    written.remove_suffix(1);
  }
  return std::string(written.substr(written.rfind('\n') + 1));
}

/// Another recorder may start a daemon at the same moment: ours then fails at once, and that one's
/// does not answer yet.
constexpr std::chrono::seconds patience{5};

bool answers_within(std::chrono::nanoseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (lttng_session_daemon_alive() != 1) {
    if (std::chrono::steady_clock::now() >= end) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

Result<void> ensure_daemon() {
  if (lttng_session_daemon_alive() == 1) {
    return {};
  }
  const char* chosen = std::getenv("LTTNG_SESSIOND_PATH");
  std::string program = chosen != nullptr ? chosen : "lttng-sessiond";
  std::string daemonize = "--daemonize";
  const std::array<char*, 3> arguments{program.data(), daemonize.data(), nullptr};

  // The daemon's complaints: a file and not a pipe, as a pipe could fill up.
  const int complaints = memfd_create("lttng-sessiond", MFD_CLOEXEC);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, complaints, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaints, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;  // signals that are blocked here must not be blocked in the daemon
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);

  int status = 0;
  while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string complaint = last_line(complaints);
  close(complaints);

  if (failed == ENOENT) {
    return error(
        "LTTng is not installed (no program '{}'); install it with 'apt install lttng-tools'",
        program);
  }
  if (failed != 0) {
    return error("cannot start LTTng's session daemon '{}': {}", program, std::strerror(failed));
  }
  if (!answers_within(patience)) {
    return error(
        "LTTng's session daemon does not start{}{}; 'lttng-sessiond' in a terminal says more, and "
        "LTTNG_HOME may name a writable directory for it",
        complaint.empty() ? "" : ": ", complaint);
  }
  return {};
}

}  // namespace takt::capture::lttng
