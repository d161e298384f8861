#pragma once

#include <sys/types.h>

#include <variant>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

/// How the kernel schedules a thread: sched_setattr(2), sched(7). The types compile as C++17 too:
/// options of the executors for rclcpp have them.
/// (The namespace is not called linux because GNU dialects of C++ define a macro of that name.)
namespace takt::linux_os {

// `resets_on_fork`: threads and processes that such a thread creates are scheduled as SCHED_OTHER,
// and are not favoured by a negative nice value.

/// SCHED_OTHER: best effort; `nice` from -20 (favoured) to 19.
struct OtherScheduling {
  int nice = 0;
  bool resets_on_fork = false;
  friend bool operator==(const OtherScheduling& a, const OtherScheduling& b) {
    return a.nice == b.nice && a.resets_on_fork == b.resets_on_fork;
  }
};

/// SCHED_FIFO: runs until it blocks or a thread of higher priority (1 to 99) is ready.
struct FifoScheduling {
  int priority = 1;
  bool resets_on_fork = false;
  friend bool operator==(const FifoScheduling& a, const FifoScheduling& b) {
    return a.priority == b.priority && a.resets_on_fork == b.resets_on_fork;
  }
};

/// SCHED_RR: like FIFO, with time slices among equal priorities.
struct RoundRobinScheduling {
  int priority = 1;
  bool resets_on_fork = false;
  friend bool operator==(const RoundRobinScheduling& a, const RoundRobinScheduling& b) {
    return a.priority == b.priority && a.resets_on_fork == b.resets_on_fork;
  }
};

/// SCHED_DEADLINE: `runtime` in every `period`, each delivered within `deadline` (hard constant
/// bandwidth server). 1024 ns <= runtime <= deadline <= period. It always resets on fork.
struct DeadlineScheduling {
  Duration runtime{};
  Duration deadline{};
  Duration period{};
  friend bool operator==(const DeadlineScheduling& a, const DeadlineScheduling& b) {
    return a.runtime == b.runtime && a.deadline == b.deadline && a.period == b.period;
  }
};

using ThreadScheduling =
    std::variant<OtherScheduling, FifoScheduling, RoundRobinScheduling, DeadlineScheduling>;

/// "other", "fifo", "rr" or "deadline".
[[nodiscard]] const char* policy_name(const ThreadScheduling& scheduling);

/// The calling thread's kernel id.
[[nodiscard]] pid_t this_thread_id();

/// Changes how thread `thread` (0: the calling one) is scheduled. Errors say what the kernel asks
/// for: a privilege, other parameters, or more bandwidth than the machine has left.
[[nodiscard]] Result<void> set_scheduling(pid_t thread, const ThreadScheduling& scheduling);

/// How thread `thread` (0: the calling one) is scheduled now. An error for policies not listed
/// here.
[[nodiscard]] Result<ThreadScheduling> get_scheduling(pid_t thread);

/// Whether this process may schedule threads so now, found out by trying it on a short-lived one.
/// The error says what to do about it.
[[nodiscard]] Result<void> check_scheduling(const ThreadScheduling& scheduling);

/// Whether this process may use SCHED_DEADLINE: the same for a reservation of one thousandth of a
/// processor.
[[nodiscard]] Result<void> check_deadline_scheduling();

}  // namespace takt::linux_os
