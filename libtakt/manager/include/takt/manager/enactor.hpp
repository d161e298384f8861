#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "takt/linux/guard.hpp"
#include "takt/linux/thread_identity.hpp"
#include "takt/linux/thread_scheduling.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"

namespace takt::manager {

/// The threads that run an executor, by the numbers that they know themselves by.
struct ExecutorThreads {
  std::string executor;
  pid_t process = 0;
  std::vector<pid_t> threads;
};

/// Has decisions carried out by the kernel: SCHED_DEADLINE for the threads of executors with a
/// reservation, SCHED_RR of the lowest priority for the middleware's threads in their processes
/// that have no fixed priority yet, so that messages do not wait for best effort (ros-llama
/// S-4.5.1), and their own scheduling for all others. Threads that are to be kept on a core get it
/// exclusively. First threads leave their reservations, then reservations shrink, then they grow
/// and new ones come, so that the kernel's admission never refuses what fits in the end (ros-llama
/// S-4.5.4). What is as decided already is not touched.
class Enactor {
 public:
  /// `guard`: restores the threads if this process ends; outlives the enactor.
  explicit Enactor(linux_os::Guard& guard) : guard_(guard) {}

  /// Returns what the kernel refused: an executor that is refused has no thread with a reservation.
  [[nodiscard]] std::vector<Doubt> enact(const Decision& decision,
                                         const std::vector<ExecutorThreads>& threads);
  /// Executors with threads that sleep and have not come to their core yet: they get their
  /// reservation when they have, and enact() is called again.
  [[nodiscard]] const std::set<std::string>& pending() const { return pending_; }
  /// False once the machine has refused to keep threads on cores.
  [[nodiscard]] bool can_pin() const { return can_pin_; }
  /// The threads of executors that have reservations now, by their numbers in ExecutorThreads.
  [[nodiscard]] std::set<std::int64_t> reserved() const;

 private:
  /// How a thread is to be scheduled, or is; the executor is empty for a thread of the middleware.
  struct Wanted {
    linux_os::ThreadIdentity thread;
    std::string executor;
    linux_os::ThreadScheduling scheduling;
    std::optional<int> core{};
    /// As in ExecutorThreads.
    pid_t number = 0;
  };
  [[nodiscard]] std::vector<Wanted> wanted(const Decision& decision,
                                           const std::vector<ExecutorThreads>& threads,
                                           std::vector<Doubt>& refused) const;
  static void add_middleware(std::vector<Wanted>& wanted);
  void leave(const std::vector<Wanted>& wanted);
  /// Makes exactly those cores exclusive on which threads are to be kept. A scheduling domain does
  /// not change while threads have reservations in it, so they leave them first.
  [[nodiscard]] Result<void> isolate(const std::vector<Wanted>& wanted);
  [[nodiscard]] Result<void> set(const Wanted& wanted);
  /// Gives a thread that the kernel refused, and all of its executor, their own scheduling back.
  void give_up(const Wanted& refused);
  [[nodiscard]] const Wanted* enacted(const linux_os::ThreadIdentity& thread) const;

  linux_os::Guard& guard_;
  std::vector<Wanted> enacted_;
  std::set<int> isolated_;
  std::set<std::string> pending_;
  bool can_pin_ = true;
};

}  // namespace takt::manager
