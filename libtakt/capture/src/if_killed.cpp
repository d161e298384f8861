#include "if_killed.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace takt::capture {

namespace {

constexpr int kept_number = 3;

// A line says that this process ends in good order; the end of the input, that it was killed.
constexpr const char* script = R"(trap '' HUP INT QUIT TERM; read -r ended || exec "$@")";

}  // namespace

Result<std::unique_ptr<IfKilled>> IfKilled::run(const std::vector<std::string>& command, int kept) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return error("cannot watch over the recorder's end: {}", std::strerror(errno));
  }
  const Descriptor input(ends[0]);
  Descriptor life(ends[1]);

  std::vector<std::string> words{"sh", "-c", script, "takt-guard"};
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (auto& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // To high numbers first, so that none is overwritten before it is copied.
  const Descriptor high_input(fcntl(input.get(), F_DUPFD_CLOEXEC, kept_number + 1));
  const Descriptor high_kept(kept >= 0 ? fcntl(kept, F_DUPFD_CLOEXEC, kept_number + 1) : -1);
  posix_spawn_file_actions_adddup2(&files, high_input.get(), STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  if (high_kept) {
    posix_spawn_file_actions_adddup2(&files, high_kept.get(), kept_number);
  }
  posix_spawn_file_actions_addclosefrom_np(&files, kept_number + (high_kept ? 1 : 0));
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A signal to the recorder's process group, from a terminal for instance, must not end the shell.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t shell = 0;
  const int failed = posix_spawn(&shell, "/bin/sh", &files, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    return error("cannot watch over the recorder's end: /bin/sh: {}", std::strerror(failed));
  }
  return std::unique_ptr<IfKilled>(new IfKilled(shell, std::move(life)));
}

IfKilled::~IfKilled() {
  constexpr std::string_view in_good_order = "ended\n";
  // If somebody has killed the shell, nobody reads the line, and writing it raises SIGPIPE here.
  sigset_t pipe_signal;
  sigset_t former;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &former);
  if (write(life_.get(), in_good_order.data(), in_good_order.size()) < 0 && errno == EPIPE) {
    constexpr timespec now{};
    sigtimedwait(&pipe_signal, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
  life_ = Descriptor();
  while (waitpid(shell_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace takt::capture
