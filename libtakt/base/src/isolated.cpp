#include "takt/base/isolated.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <mutex>
#include <optional>
#include <vector>

namespace takt {

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of address space that this process has.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// Sanitizers map more address space whenever they need it, and stop for ever if they get none:
/// with them memory is not bounded.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool bounds_memory = false;
#else
constexpr bool bounds_memory = true;
#endif

[[noreturn]] void work_alone(const std::function<void(const Output&)>& work,
                             const Allowance& allowance, int output, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(1);
  }
  constexpr rlimit no_core_dump{0, 0};
  setrlimit(RLIMIT_CORE, &no_core_dump);
  if (bounds_memory) {
    const rlim_t memory = address_space() + allowance.memory;
    const rlimit bounded{memory, memory};
    setrlimit(RLIMIT_AS, &bounded);
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM}) {
    ::signal(signal, SIG_DFL);
  }
  ::signal(SIGINT, SIG_IGN);  // the parent ends this process
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  work([output](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = write(output, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) {
        _exit(1);
      }
      bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
  });
  _exit(0);  // without the exit handlers that the parent has registered for itself
}

/// Ended children that nobody has waited for yet.
class Unreaped {
 public:
  /// Waits for those that have ended by now.
  void reap() {
    const std::scoped_lock lock(mutex_);
    std::erase_if(processes_,
                  [](pid_t process) { return waitpid(process, nullptr, WNOHANG) != 0; });
  }
  void add(pid_t process) {
    const std::scoped_lock lock(mutex_);
    processes_.push_back(process);
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> processes_;
};

Unreaped& unreaped() {
  static Unreaped processes;
  return processes;
}

/// A child process, which is killed with this object. One that sleeps uninterruptibly in the kernel
/// ends only later: this object's owner does not wait for it, and a later child's owner reaps it.
class Child {
 public:
  explicit Child(pid_t process) : process_(process) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ == 0) {
      return;
    }
    kill(process_, SIGKILL);
    if (!status_before(Clock::now() + std::chrono::seconds(1))) {
      unreaped().add(process_);
    }
  }
  /// Whether it ends well before the deadline.
  [[nodiscard]] bool ends_well(Clock::time_point deadline) {
    const std::optional<int> status = status_before(deadline);
    return status && WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  }

 private:
  /// The status with which it ends; none if it does not end before the deadline.
  std::optional<int> status_before(Clock::time_point deadline) {
    for (;;) {
      int status = -1;
      const pid_t ended = waitpid(process_, &status, WNOHANG);
      if (ended > 0 || (ended < 0 && errno != EINTR)) {
        process_ = 0;
        return ended > 0 ? status : -1;
      }
      if (Clock::now() > deadline) {
        return std::nullopt;
      }
      poll(nullptr, 0, 1);
    }
  }

  pid_t process_;
};

struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { static_cast<void>(pipe2(ends.data(), O_CLOEXEC)); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t end) {
    if (ends[end] >= 0) {
      close(ends[end]);
      ends[end] = -1;
    }
  }
};

}  // namespace

std::optional<std::string> isolated(const std::function<void(const Output&)>& work,
                                    const Allowance& allowance, const std::function<void()>& wait) {
  constexpr int look = 50;  // milliseconds
  unreaped().reap();
  Pipe pipe;
  const pid_t parent = getpid();
  const pid_t process = pipe.ends[0] >= 0 ? fork() : -1;
  if (process < 0) {
    return std::nullopt;
  }
  if (process == 0) {
    work_alone(work, allowance, pipe.ends[1], parent);
  }
  Child child(process);
  pipe.close_end(1);
  const auto deadline = Clock::now() + allowance.time;
  std::string output;
  for (;;) {
    pollfd source{pipe.ends[0], POLLIN, 0};
    if (poll(&source, 1, look) > 0) {
      const auto before = output.size();
      output.resize(before + (std::size_t{64} << 10));
      const ssize_t count = read(pipe.ends[0], output.data() + before, output.size() - before);
      output.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count == 0) {
        return child.ends_well(deadline) ? std::optional(std::move(output)) : std::nullopt;
      }
    }
    if (output.size() > allowance.output || Clock::now() > deadline) {
      return std::nullopt;
    }
    if (wait) {
      wait();
    }
  }
}

}  // namespace takt
