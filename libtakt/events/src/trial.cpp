#include "trial.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace takt::events {
namespace {

[[noreturn]] void work_silently(const std::function<void()>& work) {
  constexpr rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM}) {
    ::signal(signal, SIG_DFL);
  }
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  work();
  _exit(0);  // without the functions that the parent registered to run at its exit
}

}  // namespace

bool ends_well(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    work_silently(work);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace takt::events
