#include "arrivals.hpp"

#include <algorithm>
#include <utility>

namespace takt::executor {
namespace {

/// Arrivals between two decisions for which there is memory from the start.
constexpr std::size_t expected = 256;

}  // namespace

Arrivals::Arrivals(std::size_t workers) : wakes_(workers) {
  came_.reserve(expected);
  taken_.reserve(expected);
  idle_.reserve(workers);
}

void Arrivals::note(const Arrival& arrival) {
  std::condition_variable* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    came_.push_back(arrival);
    is_unseen_.store(true, std::memory_order_release);
    woken = wake_last();
  }
  if (woken != nullptr) woken->notify_one();
}

void Arrivals::wake_one() {
  std::condition_variable* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    woken = wake_last();
  }
  if (woken != nullptr) woken->notify_one();
}

std::condition_variable* Arrivals::wake_last() {
  if (is_waking_ || idle_.empty()) return nullptr;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  is_waking_ = true;
  is_unseen_.store(true, std::memory_order_release);
  return &wake(worker);
}

std::condition_variable& Arrivals::wake(Worker& worker) {
  worker.is_idle = false;
  return wakes_[worker.number];
}

std::vector<Arrival>& Arrivals::take() {
  taken_.clear();
  if (!is_unseen_.load(std::memory_order_acquire)) return taken_;
  {
    const std::lock_guard lock(mutex_);
    std::swap(came_, taken_);
    is_waking_ = false;
    is_unseen_.store(false, std::memory_order_relaxed);
  }
  // They are noted a little after they came, by several threads.
  const auto by_time = [](const Arrival& a, const Arrival& b) { return a.when < b.when; };
  if (!std::ranges::is_sorted(taken_, by_time)) std::ranges::stable_sort(taken_, by_time);
  return taken_;
}

bool Arrivals::become_idle(Worker& worker) {
  const std::lock_guard lock(mutex_);
  if (!came_.empty() || cancelled_) return false;
  worker.is_idle = true;
  idle_.push_back(&worker);
  return true;
}

void Arrivals::sleep(Worker& worker, std::optional<TimePoint> until) {
  std::unique_lock lock(mutex_);
  const auto woken = [&] { return !worker.is_idle; };
  std::condition_variable& wake = wakes_[worker.number];
  if (!until) {
    wake.wait(lock, woken);
  } else if (!wake.wait_until(lock, *until, woken)) {
    // Nobody has found it among the idle ones, unless it is being given a job at this moment.
    if (std::erase(idle_, &worker) == 0) wake.wait(lock, woken);
    worker.is_idle = false;
  }
}

Worker* Arrivals::take_idle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  Worker* worker = idle_.back();
  idle_.pop_back();
  return worker;
}

void Arrivals::hand_back(Worker& worker) {
  std::condition_variable* woken = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!worker.has_job) {
      if (came_.empty() && !cancelled_) {
        idle_.push_back(&worker);
        return;
      }
      is_waking_ = true;
      is_unseen_.store(true, std::memory_order_release);
    }
    woken = &wake(worker);
  }
  woken->notify_one();
}

void Arrivals::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (Worker* worker : idle_) wake(*worker).notify_one();
  idle_.clear();
}

}  // namespace takt::executor
