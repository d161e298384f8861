#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "main_thread.hpp"
#include "settings.hpp"
#include "takt/linux/guard.hpp"
#include "takt/linux/thread_identity.hpp"

namespace takt::shaping {

/// Schedules the threads of unmodified programs by a table of slots: main threads, in which
/// single-threaded executors spin, have a real-time priority inside slots and are scheduled as they
/// were outside. Their processes' other threads deliver messages and must not wait for slots
/// (performance-engineering 3.4 and 6.3, option 3). Threads with a reservation are left alone.
///
/// One thread, which sleeps to the absolute boundaries of slots and looks into /proc once a second.
class Dispatcher {
 public:
  /// `guard` restores what is changed. It must outlive this object.
  Dispatcher(Settings settings, linux_os::Guard& guard);

  /// Runs until one of `descriptors` is readable or closed. Error: the guard has been killed.
  [[nodiscard]] Result<void> run(const std::vector<int>& descriptors);

  /// How many boundaries were passed, and how many threads were ever scheduled.
  [[nodiscard]] std::int64_t switches() const { return switches_; }
  [[nodiscard]] std::size_t threads() const { return guard_.threads().size(); }

 private:
  struct Boundary {
    Duration at;
    bool begins_slot;
  };

  void look();
  void take_on(const linux_os::ThreadIdentity& thread);
  /// Sleeps, and looks for threads meanwhile. False: it is time to end.
  [[nodiscard]] bool wait_until(Instant when, const std::vector<int>& descriptors);
  /// False: it is time to end.
  [[nodiscard]] static bool sleep_until(Instant when, const std::vector<int>& descriptors);
  void pass(const Boundary& boundary);

  Settings settings_;
  linux_os::Guard& guard_;
  std::vector<Boundary> boundaries_;
  /// All known threads, also those that are left alone.
  std::set<linux_os::ThreadIdentity> threads_;
  /// Threads that go by the table.
  std::map<linux_os::ThreadIdentity, MainThread> main_threads_;
  bool is_in_slot_ = false;
  Instant next_look_ = Instant::min();
  std::int64_t switches_ = 0;
};

}  // namespace takt::shaping
