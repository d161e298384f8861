#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "takt/time/time.hpp"
#include "worker.hpp"

namespace takt::executor {

/// Something that came: messages or an expiry.
struct Arrival {
  /// Of the dispatcher.
  std::size_t entry = 0;
  std::size_t count = 1;
  Instant when;
  /// What was running where it came from.
  std::optional<Instant> origin{};
};

/// Where threads that release callbacks meet those that run them: what has come and was not looked
/// at yet, and the workers that are idle. From any thread; nobody waits here but idle workers, and
/// who finds nothing new takes no lock.
class Arrivals {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Workers are numbered from 0.
  explicit Arrivals(std::size_t workers);

  /// Something has come: an idle worker will look at it, if no other one is about to.
  void note(const Arrival& arrival);

  /// Lets an idle worker look for jobs.
  void wake_one();

  /// All that came, in the order of its coming. Valid until the next call, which only one thread
  /// at a time makes.
  [[nodiscard]] std::vector<Arrival>& take();

  /// False: something has come that must be looked at first.
  [[nodiscard]] bool become_idle(Worker& worker);

  /// Until the worker, which is idle, is given a job, told to look for one, or the time has come.
  void sleep(Worker& worker, std::optional<TimePoint> until);

  /// An idle worker, which must be handed back; null: there is none.
  [[nodiscard]] Worker* take_idle();
  /// Runs its job; without one it becomes idle again, or looks at what has come.
  void hand_back(Worker& worker);

  /// Wakes all workers, and lets nobody become idle until resume().
  void cancel();
  void resume() { cancelled_ = false; }
  [[nodiscard]] bool is_cancelled() const { return cancelled_; }

 private:
  /// With the lock held: the worker is not idle any more, and must be notified.
  [[nodiscard]] std::condition_variable& wake(Worker& worker);
  [[nodiscard]] std::condition_variable* wake_last();

  std::mutex mutex_;
  /// By number of the worker. Notified without the lock, which a woken worker needs at once.
  std::vector<std::condition_variable> wakes_;
  /// Guarded by it.
  std::vector<Arrival> came_;
  std::vector<Worker*> idle_;
  /// An idle worker has been told to look for jobs and has not done so yet.
  bool is_waking_ = false;

  /// Something came, or is_waking_. Like the next one written under the lock, read without it by
  /// who will take the lock before anything depends on it.
  std::atomic<bool> is_unseen_ = false;
  std::atomic<bool> cancelled_ = false;

  /// What take() gave.
  std::vector<Arrival> taken_;
};

}  // namespace takt::executor
