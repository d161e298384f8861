#include "takt/linux/thread_scheduling.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
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
                          result.sched_nice = other.nice;
                        },
                        [&](const FifoScheduling& fifo) {
                          result.sched_policy = policy_fifo;
                          result.sched_priority = static_cast<std::uint32_t>(fifo.priority);
                        },
                        [&](const RoundRobinScheduling& round_robin) {
                          result.sched_policy = policy_round_robin;
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
      return deadline ? "the kernel wants 1024 ns <= runtime <= deadline <= period"
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

/// The kernel (seen on Linux 6.18) never gives back the bandwidth of a thread that sleeps when it
/// leaves the deadline class. It counts bandwidth in 2^-20 of a processor: this reservation is
/// none.
void let_go_of_bandwidth(pid_t thread) {
  constexpr DeadlineScheduling least{.runtime = Duration{1024},
                                     .deadline = std::chrono::seconds{4},
                                     .period = std::chrono::seconds{4}};
  const auto present = get_scheduling(thread);
  if (!present || !std::holds_alternative<DeadlineScheduling>(*present)) return;
  SchedAttr attr = attributes(least);
  syscall(SYS_sched_setattr, thread, &attr, 0);  // if it is refused, it was worth trying
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
  if (!std::holds_alternative<DeadlineScheduling>(scheduling)) let_go_of_bandwidth(thread);
  SchedAttr attr = attributes(scheduling);
  if (syscall(SYS_sched_setattr, thread, &attr, 0) != 0) {
    return error("cannot schedule thread {} by {}: {}", thread == 0 ? this_thread_id() : thread,
                 describe(scheduling), advice(errno, scheduling));
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
  switch (attr.sched_policy) {
    case policy_other:
      return OtherScheduling{.nice = attr.sched_nice};
    case policy_fifo:
      return FifoScheduling{.priority = static_cast<int>(attr.sched_priority)};
    case policy_round_robin:
      return RoundRobinScheduling{.priority = static_cast<int>(attr.sched_priority)};
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

Result<void> check_deadline_scheduling() {
  Result<void> result;
  std::thread([&] {
    result = set_scheduling(0, DeadlineScheduling{.runtime = std::chrono::microseconds(100),
                                                  .deadline = std::chrono::milliseconds(100),
                                                  .period = std::chrono::milliseconds(100)});
  }).join();
  return result;
}

}  // namespace takt::linux_os
