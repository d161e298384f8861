#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/linux/exclusive_cores.hpp"
#include "takt/linux/thread_identity.hpp"
#include "takt/linux/thread_scheduling.hpp"

namespace takt::linux_os {

/// How a thread was scheduled before it was changed.
struct SavedThread {
  ThreadIdentity thread;
  ThreadScheduling scheduling;
  std::vector<int> processors;
};

/// Whether a guard may make cores exclusive: it keeps CAP_DAC_OVERRIDE for that.
enum class Isolation { none, possible };

/// Remembers how threads were scheduled, and has that restored however this process ends.
///
/// A process of its own, the guard, restores. It learns of each thread before the thread is
/// changed, through a socket that closes when this process ends, also by SIGKILL. Then it restores
/// all threads that it knows and makes exclusive cores available to all again. It leaves a thread
/// alone if its number now means another thread.
///
///   this process          guard
///   remember(thread) ───▶ keeps it
///   change the thread
///   end, of any kind ───▶ socket closed: restores, ends
class Guard {
 public:
  /// Forks. To be called while the process has one thread. Errors: no process can be made.
  [[nodiscard]] static Result<std::unique_ptr<Guard>> start(Isolation isolation = Isolation::none);

  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// As restore().
  ~Guard();

  /// To be called before the thread is changed. Reads how it is scheduled now. Does nothing if it
  /// is remembered already. Errors: it is gone, is scheduled in a way that cannot be restored, or
  /// the guard has ended: it must not be changed then.
  [[nodiscard]] Result<void> remember(const ThreadIdentity& thread);
  /// Schedules the thread as remembered, and forgets it. Errors of the kernel; none if it is gone.
  [[nodiscard]] Result<void> restore(const ThreadIdentity& thread);
  /// Makes cores exclusive for threads that are to be kept on them, until the end. An empty list
  /// makes no core exclusive any more. No thread may have a reservation during the call. Errors:
  /// those of ExclusiveCores::isolate().
  [[nodiscard]] Result<void> isolate(const std::vector<int>& cores);
  /// As ExclusiveCores::keep(), for a thread that is remembered.
  [[nodiscard]] Result<bool> keep(const ThreadIdentity& thread, int core);
  /// Whether isolate() is possible on this machine, as far as is known without doing it.
  [[nodiscard]] bool can_isolate() const { return cores_.has_value(); }
  /// Remembers the thread and schedules it; `core`: keeps it there first, see keep(). False: it is
  /// not on its core yet, and is not scheduled so. Errors of remember(), keep() and the kernel.
  [[nodiscard]] Result<bool> schedule(const ThreadIdentity& thread,
                                      const ThreadScheduling& scheduling, std::optional<int> core);
  /// Restores all threads, makes no core exclusive any more, and ends the guard. If somebody has
  /// killed the guard, this process does what it would have done.
  void restore();

  [[nodiscard]] const std::vector<SavedThread>& threads() const { return saved_; }
  [[nodiscard]] pid_t process() const { return process_; }
  /// Whether the guard runs. If not, what was changed would stay so after a SIGKILL.
  [[nodiscard]] bool is_alive() const;

 private:
  Guard(pid_t process, int socket, Isolation isolation);

  pid_t process_;
  int socket_;
  Result<ExclusiveCores> cores_;
  std::vector<SavedThread> saved_;
};

/// Schedules a thread as it was, if it still runs.
[[nodiscard]] Result<void> restore(const SavedThread& saved);

}  // namespace takt::linux_os
