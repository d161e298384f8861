#include "takt/linux/thread_scheduling.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

namespace takt::linux_os {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};

// Values of the kernel's linux/sched.h.
constexpr std::uint32_t policy_other = 0;
constexpr std::uint32_t policy_fifo = 1;
constexpr std::uint32_t policy_round_robin = 2;
constexpr std::uint32_t policy_deadline = 6;
/// New threads start under SCHED_OTHER instead of inheriting. Without it the kernel refuses to let
/// a deadline thread create any.
constexpr std::uint64_t reset_on_fork = 0x01;

/// The first version of the kernel's struct sched_attr, which C libraries before glibc 2.41 do not
/// declare and whose kernel header cannot be included beside theirs.
struct SchedAttr {
  std::uint32_t size;
  std::uint32_t sched_policy;
  std::uint64_t sched_flags;
  std::int32_t sched_nice;
  std::uint32_t sched_priority;
  std::uint64_t sched_runtime;
  std::uint64_t sched_deadline;
  std::uint64_t sched_period;
};
static_assert(sizeof(SchedAttr) == 48);

std::uint64_t nanoseconds(Duration duration) {
  return static_cast<std::uint64_t>(duration.count());
}

SchedAttr attributes(const ThreadScheduling& scheduling) {
  SchedAttr result{};
  result.size = sizeof(result);
  std::visit(Overloaded{[&](const OtherScheduling& other) {
                          result.sched_policy = policy_other;
                          result.sched_flags = other.resets_on_fork ? reset_on_fork : 0;
                          result.sched_nice = other.nice;
                        },
                        [&](const FifoScheduling& fifo) {
                          result.sched_policy = policy_fifo;
                          result.sched_flags = fifo.resets_on_fork ? reset_on_fork : 0;
                          result.sched_priority = static_cast<std::uint32_t>(fifo.priority);
                        },
                        [&](const RoundRobinScheduling& round_robin) {
                          result.sched_policy = policy_round_robin;
                          result.sched_flags = round_robin.resets_on_fork ? reset_on_fork : 0;
                          result.sched_priority = static_cast<std::uint32_t>(round_robin.priority);
                        },
                        [&](const DeadlineScheduling& deadline) {
                          result.sched_policy = policy_deadline;
                          result.sched_flags = reset_on_fork;
                          result.sched_runtime = nanoseconds(deadline.runtime);
                          result.sched_deadline = nanoseconds(deadline.deadline);
                          result.sched_period = nanoseconds(deadline.period);
                        }},
             scheduling);
  return result;
}

std::string describe(const ThreadScheduling& scheduling) {
  return std::visit(Overloaded{[](const OtherScheduling& other) {
                                 return fmt::format("SCHED_OTHER, nice {}", other.nice);
                               },
                               [](const FifoScheduling& fifo) {
                                 return fmt::format("SCHED_FIFO, priority {}", fifo.priority);
                               },
                               [](const RoundRobinScheduling& round_robin) {
                                 return fmt::format("SCHED_RR, priority {}", round_robin.priority);
                               },
                               [](const DeadlineScheduling& deadline) {
                                 return fmt::format(
                                     "SCHED_DEADLINE, {} ns within {} ns in every {} ns",
                                     deadline.runtime.count(), deadline.deadline.count(),
                                     deadline.period.count());
                               }},
                    scheduling);
}

const char* advice(int error_number, const ThreadScheduling& scheduling) {
  const bool deadline = std::holds_alternative<DeadlineScheduling>(scheduling);
  switch (error_number) {
    case EPERM:
      return deadline ? "not permitted: run as root or give the program CAP_SYS_NICE, and do not "
                        "restrict its processor affinity"
                      : "not permitted: run as root, give the program CAP_SYS_NICE or raise its "
                        "RLIMIT_RTPRIO";
    case EINVAL:
      return deadline ? "the kernel wants 1024 ns <= runtime <= deadline <= period, and a period "
                        "within /proc/sys/kernel/sched_deadline_period_{min,max}_us"
                      : "the kernel wants priorities from 1 to 99 and nice values from -20 to 19";
    case EBUSY:
      return "the machine has too little bandwidth left for it: lower the budgets, or raise "
             "/proc/sys/kernel/sched_rt_runtime_us";
    case ESRCH:
      return "there is no such thread";
    default:
      return std::strerror(error_number);
  }
}

/// 0, or the error's number.
int apply(pid_t thread, const ThreadScheduling& scheduling) {
  SchedAttr attr = attributes(scheduling);
  return syscall(SYS_sched_setattr, thread, &attr, 0) == 0 ? 0 : errno;
}

/// The first line of a file of the thread in /proc; empty: there is none.
std::string line_of(pid_t thread, std::string_view file) {
  std::ifstream stream(fmt::format("/proc/{}/{}", thread, file));
  std::string line;
  std::getline(stream, line);
  return line;
}

/// The thread neither runs nor is ready to.
bool is_asleep(pid_t thread) {
  const std::string line = line_of(thread, "stat");
  const auto name_end = line.rfind(')');  // the name, in parentheses, may hold anything
  return name_end != std::string::npos && line.substr(name_end, 3) != ") R";
}

/// Moves a thread out of the deadline class, in which it has the reservation `former`.
///
/// Two faults of the kernel (seen on Linux 6.18) must be avoided:
/// - The kernel never gives back the bandwidth of a thread that sleeps when it leaves the class. It
///   counts bandwidth in 2^-20 of a processor, so a thread that first gets the reservation `least`
///   has none to give back.
/// - A thread that has used up its budget, leaves the class and comes back with a new reservation
///   is ready but never runs, unless the kernel has dropped its old reservation by then. That takes
///   the longer the smaller the share of the old reservation is: hours with `least`. So a thread
///   that is awake leaves directly, without `least`; and a thread that woke up in between gets its
///   former reservation back and then leaves directly, too.
int leave(pid_t thread, const DeadlineScheduling& former, const ThreadScheduling& scheduling) {
  constexpr DeadlineScheduling least{.runtime = Duration{1024},
                                     .deadline = std::chrono::milliseconds{1100},
                                     .period = std::chrono::milliseconds{1100}};
  if (!is_asleep(thread)) return apply(thread, scheduling);
  const std::string time_before = line_of(thread, "schedstat");
  apply(thread, least);  // if it is refused, it was worth trying
  const int result = apply(thread, scheduling);
  const bool woke_up = line_of(thread, "schedstat") != time_before;
  return woke_up && apply(thread, former) == 0 ? apply(thread, scheduling) : result;
}

}  // namespace

const char* policy_name(const ThreadScheduling& scheduling) {
  return std::visit(Overloaded{[](const OtherScheduling&) { return "other"; },
                               [](const FifoScheduling&) { return "fifo"; },
                               [](const RoundRobinScheduling&) { return "rr"; },
                               [](const DeadlineScheduling&) { return "deadline"; }},
                    scheduling);
}

pid_t this_thread_id() { return static_cast<pid_t>(syscall(SYS_gettid)); }

Result<void> set_scheduling(pid_t thread, const ThreadScheduling& scheduling) {
  const pid_t number = thread == 0 ? this_thread_id() : thread;
  const auto present = get_scheduling(number);
  const auto* former = present ? std::get_if<DeadlineScheduling>(&*present) : nullptr;
  const bool leaves = former != nullptr && !std::holds_alternative<DeadlineScheduling>(scheduling);
  const int fault = leaves ? leave(number, *former, scheduling) : apply(number, scheduling);
  if (fault != 0) {
    return error("cannot schedule thread {} by {}: {}", number, describe(scheduling),
                 advice(fault, scheduling));
  }
  return {};
}

Result<ThreadScheduling> get_scheduling(pid_t thread) {
  SchedAttr attr{};
  if (syscall(SYS_sched_getattr, thread, &attr, sizeof(attr), 0) != 0) {
    return error("cannot read how thread {} is scheduled: {}", thread, std::strerror(errno));
  }
  const auto duration = [](std::uint64_t value) {
    return Duration(static_cast<std::int64_t>(value));
  };
  const bool resets = (attr.sched_flags & reset_on_fork) != 0;
  switch (attr.sched_policy) {
    case policy_other:
      return OtherScheduling{.nice = attr.sched_nice, .resets_on_fork = resets};
    case policy_fifo:
      return FifoScheduling{.priority = static_cast<int>(attr.sched_priority),
                            .resets_on_fork = resets};
    case policy_round_robin:
      return RoundRobinScheduling{.priority = static_cast<int>(attr.sched_priority),
                                  .resets_on_fork = resets};
    case policy_deadline:
      return DeadlineScheduling{.runtime = duration(attr.sched_runtime),
                                .deadline = duration(attr.sched_deadline),
                                .period = duration(attr.sched_period)};
    default:
      return error(
          "thread {} has scheduling policy {}, which is none of SCHED_OTHER, SCHED_FIFO, "
          "SCHED_RR and SCHED_DEADLINE",
          thread, attr.sched_policy);
  }
}

Result<void> check_scheduling(const ThreadScheduling& scheduling) {
  Result<void> result;
  std::thread([&] { result = set_scheduling(0, scheduling); }).join();
  return result;
}

Result<void> check_deadline_scheduling() {
  return check_scheduling(DeadlineScheduling{.runtime = std::chrono::microseconds(100),
                                             .deadline = std::chrono::milliseconds(100),
                                             .period = std::chrono::milliseconds(100)});
}

}  // namespace takt::linux_os
