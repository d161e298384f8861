#include "takt/linux/guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <type_traits>
#include <utility>

#include "takt/base/capabilities.hpp"
#include "takt/base/try.hpp"
#include "takt/linux/affinity.hpp"

namespace takt::linux_os {

namespace {

/// A set of processors as a message can hold it.
using Processors = std::bitset<processor_limit>;

/// A message through the socket. The socket keeps messages apart, so the guard needs no parser.
struct Message {
  enum class Kind : int { remember, forget, isolate } kind = Kind::remember;
  ThreadIdentity thread;
  ThreadScheduling scheduling;
  Processors processors;
};
static_assert(std::is_trivially_copyable_v<Message>);

/// `processors` are from 0 to processor_limit - 1.
Processors set_of(const std::vector<int>& processors) {
  Processors set;
  for (const int processor : processors) set.set(static_cast<std::size_t>(processor));
  return set;
}

std::vector<int> numbers_of(const Processors& set) {
  std::vector<int> processors;
  for (int processor = 0; processor < processor_limit; ++processor) {
    if (set[static_cast<std::size_t>(processor)]) processors.push_back(processor);
  }
  return processors;
}

Message message_of(Message::Kind kind, const SavedThread& saved) {
  return {kind, saved.thread, saved.scheduling, set_of(saved.processors)};
}

void forget(std::vector<SavedThread>& saved, const ThreadIdentity& thread) {
  std::erase_if(saved, [&](const SavedThread& known) { return known.thread == thread; });
}

void restore_all(const std::vector<SavedThread>& saved) {
  // A thread may need bandwidth for its own reservation that another one gives back after it.
  for (int turn = 0; turn < 2; ++turn) {
    for (auto thread = saved.rbegin(); thread != saved.rend(); ++thread) {
      static_cast<void>(restore(*thread));
    }
  }
}

/// What the guard answers to Message::Kind::isolate.
struct Answer {
  bool done = false;
  /// Why not.
  std::array<char, 400> reason{};
};

Answer answer_of(const Result<void>& result) {
  Answer answer{.done = result.has_value()};
  if (!result) result.error().message.copy(answer.reason.data(), answer.reason.size() - 1);
  return answer;
}

/// Runs the guard until the other process ends.
[[noreturn]] void watch(int socket, Isolation isolation) {
  setsid();  // signals to the other process's group or from its terminal are not for the guard
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) signal(number, SIG_IGN);
  prctl(PR_SET_NAME, "takt-guard", 0, 0, 0);
  const bool may_isolate = isolation == Isolation::possible;
  try_to_keep_only_capabilities(scheduling_capabilities | (may_isolate ? writing_capabilities : 0));
  if (socket != 3) dup2(socket, 3);
  close_range(4, ~0U, 0);
  const int nowhere = open("/dev/null", O_RDWR);
  if (nowhere >= 0) {
    for (const int standard : {0, 1, 2}) dup2(nowhere, standard);
    close(nowhere);
  }
  std::vector<SavedThread> saved;
  auto cores = ExclusiveCores::find();
  Message message;
  for (;;) {
    const ssize_t size = read(3, &message, sizeof message);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof message) break;  // the other process has ended
    if (message.kind == Message::Kind::isolate) {
      const auto done = cores ? cores->isolate(numbers_of(message.processors))
                              : Result<void>(tl::unexpected(cores.error()));
      const Answer answer = answer_of(done);
      static_cast<void>(write(3, &answer, sizeof answer));  // the other may have ended meanwhile
      continue;
    }
    forget(saved, message.thread);
    if (message.kind == Message::Kind::remember) {
      saved.push_back({message.thread, message.scheduling, numbers_of(message.processors)});
    }
  }
  restore_all(saved);
  if (cores) cores->release();
  _exit(0);
}

bool send(int socket, const Message& message) {
  // A guard that was killed must not end this process by SIGPIPE.
  struct sigaction ignore {};
  struct sigaction former {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &former);
  ssize_t size = 0;
  do {
    size = write(socket, &message, sizeof message);
  } while (size < 0 && errno == EINTR);
  sigaction(SIGPIPE, &former, nullptr);
  return size == sizeof message;
}

}  // namespace

Result<void> restore(const SavedThread& saved) {
  if (!is_alive(saved.thread)) return {};
  const pid_t thread = saved.thread.thread;
  // The kernel does not restrict the processors of a deadline thread. So a thread first gets its
  // own class back and then leaves the core that it was kept on, unless its own class is the
  // deadline class.
  const bool deadline = std::holds_alternative<DeadlineScheduling>(saved.scheduling);
  const auto scheduling = [&] { return set_scheduling(thread, saved.scheduling); };
  const auto processors = [&]() -> Result<void> {
    const auto present = affinity(thread);
    if (present && *present == saved.processors) return {};
    return set_affinity(thread, saved.processors);
  };
  Result<void> first = deadline ? leave_exclusive_core(saved.thread) : scheduling();
  Result<void> second = deadline ? processors() : leave_exclusive_core(saved.thread);
  Result<void> third = deadline ? scheduling() : processors();
  if (!is_alive(saved.thread)) return {};
  return !first ? first : !second ? second : third;
}

Result<std::unique_ptr<Guard>> Guard::start(Isolation isolation) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return error("cannot watch over changed threads: {}", std::strerror(errno));
  }
  const pid_t process = fork();
  if (process < 0) {
    const int fault = errno;
    close(ends[0]);
    close(ends[1]);
    return error("cannot watch over changed threads: {}", std::strerror(fault));
  }
  if (process == 0) {
    close(ends[1]);
    watch(ends[0], isolation);
  }
  close(ends[0]);
  return std::unique_ptr<Guard>(new Guard(process, ends[1], isolation));
}

Guard::Guard(pid_t process, int socket, Isolation isolation)
    : process_(process),
      socket_(socket),
      cores_(isolation == Isolation::possible
                 ? ExclusiveCores::find()
                 : Result<ExclusiveCores>(error("no thread is to be kept on a core"))) {}

Guard::~Guard() { restore(); }

bool Guard::is_alive() const {
  siginfo_t ended{};
  const int found = waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT);
  return socket_ >= 0 && found == 0 && ended.si_pid == 0;
}

Result<void> Guard::remember(const ThreadIdentity& thread) {
  const auto known = [&](const SavedThread& saved) { return saved.thread == thread; };
  if (std::ranges::any_of(saved_, known)) return {};
  const auto scheduling = TAKT_TRY(get_scheduling(thread.thread));
  auto processors = TAKT_TRY(affinity(thread.thread));
  if (!linux_os::is_alive(thread)) {
    return error("thread {} of process {} has ended", thread.thread, thread.process);
  }
  SavedThread saved{thread, scheduling, std::move(processors)};
  if (!send(socket_, message_of(Message::Kind::remember, saved))) {
    return error("the process that would restore thread {} was killed", thread.thread);
  }
  saved_.push_back(std::move(saved));
  return {};
}

Result<void> Guard::restore(const ThreadIdentity& thread) {
  const auto known = std::ranges::find(saved_, thread, &SavedThread::thread);
  if (known == saved_.end()) return {};
  TAKT_TRY(linux_os::restore(*known));
  send(socket_, message_of(Message::Kind::forget, *known));
  saved_.erase(known);
  return {};
}

Result<void> Guard::isolate(const std::vector<int>& cores) {
  if (!cores_) return tl::unexpected(cores_.error());
  for (const int core : cores) {
    if (core < 0 || core >= processor_limit) return error("there is no processor {}", core);
  }
  const Message message{Message::Kind::isolate, {}, {}, set_of(cores)};
  Answer answer;
  ssize_t size = send(socket_, message) ? 0 : -1;
  if (size == 0) {
    do {
      size = read(socket_, &answer, sizeof answer);
    } while (size < 0 && errno == EINTR);
  }
  if (size != sizeof answer) return error("the process that would give cores back was killed");
  if (!answer.done) return error("{}", answer.reason.data());
  return {};
}

Result<bool> Guard::keep(const ThreadIdentity& thread, int core) {
  if (!cores_) return tl::unexpected(cores_.error());
  return cores_->keep(thread, core);
}

Result<bool> Guard::schedule(const ThreadIdentity& thread, const ThreadScheduling& scheduling,
                             std::optional<int> core) {
  TAKT_TRY(remember(thread));
  if (core) {
    const auto kept = keep(thread, *core);
    if (!kept || !*kept) return kept;
  }
  return set_scheduling(thread.thread, scheduling).map([] { return true; });
}

void Guard::restore() {
  if (socket_ < 0) return;
  close(std::exchange(socket_, -1));
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(process_, &status, 0);
  } while (ended < 0 && errno == EINTR);
  if (ended != process_ || !WIFEXITED(status)) {  // it was killed, before or while it restored
    restore_all(saved_);
    if (cores_) static_cast<void>(cores_->isolate({}));  // fails if another manager has some by now
  }
  saved_.clear();
}

}  // namespace takt::linux_os
