#include "daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <lttng/lttng.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "../kernel_file.hpp"
#include "../process.hpp"
#include "takt/base/try.hpp"

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

constexpr const char* daemon_name = "lttng-sessiond";

/// By this variable of its environment a daemon is known that a recorder started.
constexpr const char* daemon_variable = "TAKT_DAEMON";
constexpr const char* daemon_value = "1";

/// Where the daemon of this user writes its number.
std::string number_file() {
  if (geteuid() == 0) {
    return "/var/run/lttng/lttng-sessiond.pid";
  }
  const char* chosen = std::getenv("LTTNG_HOME");
  const char* home = chosen != nullptr ? chosen : std::getenv("HOME");
  return std::string(home != nullptr ? home : "") + "/.lttng/lttng-sessiond.pid";
}

/// The number of the daemon that wrote this file, which another may have replaced since; 0: none is
/// there.
pid_t number_in(int file) {
  const std::string text = last_line(file);
  pid_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Whether a daemon has this number, as numbers are used again. One that has ended, and that nobody
/// has waited for yet, has no command line.
bool is_daemon(pid_t number) {
  return number > 0 &&
         read_kernel_file(fmt::format("/proc/{}/cmdline", number)).find(daemon_name) !=
             std::string::npos;
}

bool has_sessions() {
  lttng_session* sessions = nullptr;
  const int count = lttng_list_sessions(&sessions);
  std::free(sessions);
  return count != 0;
}

Result<void> start_daemon() {
  const char* chosen = std::getenv("LTTNG_SESSIOND_PATH");
  std::string program = chosen != nullptr ? chosen : daemon_name;
  std::string daemonize = "--daemonize";
  const std::array<char*, 3> arguments{program.data(), daemonize.data(), nullptr};

  // The daemon's complaints: a file and not a pipe, as a pipe could fill up.
  const int complaints = memfd_create(daemon_name, MFD_CLOEXEC);
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
  std::string mark = fmt::format("{}={}", daemon_variable, daemon_value);
  std::vector<char*> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);
  }
  environment.push_back(mark.data());
  environment.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, program.c_str(), &files, &attributes, arguments.data(),
                                  environment.data());
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

}  // namespace

Result<Daemon> Daemon::ensure() {
  const auto end = std::chrono::steady_clock::now() + patience;
  Daemon daemon;
  for (pid_t last = 0;;) {
    daemon.use_ = Descriptor(open(number_file().c_str(), O_RDONLY | O_CLOEXEC));
    if (const pid_t number = daemon.use_ ? number_in(daemon.use_.get()) : 0; number != 0) {
      last = number;
    }
    if (lttng_session_daemon_alive() == 1) {
      // Nobody ends a daemon that is locked, and who holds the lock alone is just ending it.
      const bool locked = !daemon.use_ || flock(daemon.use_.get(), LOCK_SH | LOCK_NB) == 0;
      if (locked && lttng_session_daemon_alive() == 1) {
        return daemon;
      }
    } else if (!is_daemon(last)) {
      // One that runs without answering begins, or it ends and removes the files of the next one.
      TAKT_TRY(start_daemon());
    }
    if (std::chrono::steady_clock::now() >= end) {
      return error("LTTng's session daemon does not answer");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

Daemon::~Daemon() {
  const pid_t number = use_ ? number_in(use_.get()) : 0;
  if (number <= 0 || !was_started_with(number, daemon_variable, daemon_value) ||
      flock(use_.get(), LOCK_EX | LOCK_NB) != 0 || has_sessions() || kill(number, SIGTERM) != 0) {
    return;
  }
  const auto end = std::chrono::steady_clock::now() + patience;
  while (is_daemon(number) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::vector<std::string> Daemon::after_kill(const std::string& session) {
  // It may just be starting. The lock is kept until it has ended: another recorder may not begin to
  // use it meanwhile.
  constexpr const char* script = R"(lttng --no-sessiond destroy "$1"
tries=0
until [ -s "$2" ] && lttng --no-sessiond list || [ $tries -ge 50 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
exec 9<"$2" && flock -xn 9 && number=$(cat <&9) &&
  grep -qzx "$3" /proc/$number/environ && list=$(lttng --no-sessiond --mi xml list) &&
  case $list in *'<session>'*) exit ;; esac && kill $number &&
  while grep -qzx "$3" /proc/$number/environ; do sleep 0.02; done)";
  return {"sh",
          "-c",
          script,
          "sh",
          session,
          number_file(),
          fmt::format("{}={}", daemon_variable, daemon_value)};
}

}  // namespace takt::capture::lttng
