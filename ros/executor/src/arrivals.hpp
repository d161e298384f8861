#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "takt/linux/thread_clock.hpp"
#include "takt/time/time.hpp"
#include "wake_up.hpp"
#include "worker.hpp"

namespace takt::executor {

/// Something that came: messages or an expiry.
struct Arrival {
  /// The position of its entry in the dispatcher.
  std::size_t entry = 0;
  std::size_t count = 1;
  Instant when;
  /// That of what was running where it came from, or `when`.
  Instant origin;
};

/// Where threads that release callbacks meet those that run them: what has come and was not looked
/// at yet, and the workers that are idle. From any thread; nobody waits here but idle workers, and
/// who finds nothing new takes no lock.
class Arrivals {
 public:
  using TimePoint = WakeUp::TimePoint;

  /// Workers are numbered from 0.
  explicit Arrivals(std::size_t workers);

  /// So many messages have come for an entry, now or at `when`; or an expiry has. An idle worker
  /// will look at it, if no other one is about to and the entry is not to be ignored.
  void note(std::size_t entry, std::size_t count, Instant when = linux_os::monotonic_now());

  /// Lets an idle worker look for jobs.
  void wake_one();

  /// Whether take() has something to take or to do.
  [[nodiscard]] bool has_unseen() const { return is_unseen_.load(std::memory_order_acquire); }

  /// All that came, in the order of its coming. Valid until the next call, which only one thread
  /// at a time makes.
  [[nodiscard]] std::span<const Arrival> take();

  /// What take() gave last.
  [[nodiscard]] std::span<const Arrival> taken() const { return taken_; }

  /// No idle worker is woken for that entry until heed(): it could do nothing for it.
  void ignore(std::size_t entry);
  /// Ends that for all entries. What came for them meanwhile is for the caller to look at.
  void heed() {
    if (ignores_any_) heed_all();
  }

  /// False: something has come that must be looked at first, or there were interruptions `since`.
  [[nodiscard]] bool become_idle(Worker& worker, std::optional<std::uint64_t> since);

  /// Until the worker, which is idle, is given a job, told to look for one, or the time has come:
  /// `exactly` then, for which it polls at last.
  void sleep(Worker& worker, std::optional<TimePoint> until, bool exactly);

  /// An idle worker, which must be handed back before another one is taken; null: there is none.
  [[nodiscard]] Worker* take_idle();
  /// Runs its job; without one it becomes idle again, or looks at what has come and whether it need
  /// wait, if it was to wake meanwhile.
  void hand_back(Worker& worker);

  /// Wakes all workers, who look for jobs, and may give up waiting.
  void interrupt();
  [[nodiscard]] std::uint64_t interruptions() const { return interruptions_; }

  /// Wakes all workers, and lets nobody become idle until resume().
  void cancel();
  void resume() { cancelled_ = false; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

 private:
  /// With more of them, those of one entry are merged: nobody takes them for long.
  static constexpr std::size_t most_unseen = 65'536;

  /// With the lock held: an idle worker that is not idle any more and must be signalled.
  [[nodiscard]] WakeUp* wake_last();
  void merge();
  void heed_all();
  void wake_all();

  // What noting an arrival touches lies together.
  std::mutex mutex_;
  /// Guarded by it.
  std::vector<Arrival> came_;
  std::size_t most_ = most_unseen;
  std::vector<Worker*> idle_;
  /// By entry, up to the last one that is ignored.
  std::vector<bool> is_ignored_;
  /// An idle worker has been told to look for jobs and has not done so yet.
  bool is_waking_ = false;
  /// Since a worker was last taken, all were woken, or the time came for one that was not idle.
  bool is_wanted_ = false;

  /// Something came, or is_waking_. Like the next one written under the lock, read without it by
  /// who will take the lock before anything depends on it.
  std::atomic<bool> is_unseen_ = false;
  std::atomic<bool> cancelled_ = false;
  std::atomic<std::uint64_t> interruptions_ = 0;

  /// By number of the worker: signalled once, without the lock, when it ceases to be idle.
  std::vector<WakeUp> wakes_;
  /// What take() gave. Like the next one of those who take, of whom there is one at a time.
  std::vector<Arrival> taken_;
  bool ignores_any_ = false;
};

}  // namespace takt::executor
