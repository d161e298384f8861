#include "arrivals.hpp"

#include <algorithm>
#include <utility>

#include "takt/executor/origin.hpp"
#include "takt/linux/punctual.hpp"
#include "takt/linux/thread_clock.hpp"

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

void Arrivals::note(std::size_t entry, std::size_t count, Instant when) {
  const Arrival arrival{
      .entry = entry, .count = count, .when = when, .origin = current_origin().value_or(when)};
  WakeUp* woken = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (came_.size() >= most_) merge();
    came_.push_back(arrival);
    is_unseen_.store(true, std::memory_order_release);
    const bool is_ignored = entry < is_ignored_.size() && is_ignored_[entry];
    if (!is_ignored) woken = wake_last();
  }
  if (woken != nullptr) woken->signal();
}

void Arrivals::wake_one() {
  WakeUp* woken = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    woken = wake_last();
  }
  if (woken != nullptr) woken->signal();
}

/// With the lock held. Of an entry for which many came, the later ones become a number.
void Arrivals::merge() {
  struct Kept {
    std::size_t number = 0;
    std::size_t last = 0;
  };
  std::vector<Kept> kept;
  std::size_t size = 0;
  for (const Arrival& arrival : came_) {
    if (arrival.entry >= kept.size()) kept.resize(arrival.entry + 1);
    Kept& of_entry = kept[arrival.entry];
    if (of_entry.number < TimerExecutable::most_waiting) {
      ++of_entry.number;
      of_entry.last = size;
      came_[size++] = arrival;
    } else {
      came_[of_entry.last].count += arrival.count;
    }
  }
  came_.resize(size);
  most_ = std::max(most_unseen, 2 * size);
}

WakeUp* Arrivals::wake_last() {
  if (is_waking_ || idle_.empty()) return nullptr;
  Worker& worker = *idle_.back();
  idle_.pop_back();
  is_waking_ = true;
  is_unseen_.store(true, std::memory_order_release);
  return &wakes_[worker.number];
}

std::span<const Arrival> Arrivals::take() {
  taken_.clear();
  {
    const std::scoped_lock lock(mutex_);
    std::swap(came_, taken_);
    is_waking_ = false;
    is_unseen_.store(false, std::memory_order_relaxed);
  }
  // They are noted a little after they came, by several threads.
  const auto by_time = [](const Arrival& a, const Arrival& b) { return a.when < b.when; };
  if (!std::ranges::is_sorted(taken_, by_time)) std::ranges::stable_sort(taken_, by_time);
  return taken_;
}

void Arrivals::ignore(std::size_t entry) {
  const std::scoped_lock lock(mutex_);
  if (entry >= is_ignored_.size()) is_ignored_.resize(entry + 1);
  is_ignored_[entry] = true;
  ignores_any_ = true;
}

void Arrivals::heed_all() {
  const std::scoped_lock lock(mutex_);
  is_ignored_.clear();
  ignores_any_ = false;
}

bool Arrivals::become_idle(Worker& worker, std::optional<std::uint64_t> since) {
  const std::scoped_lock lock(mutex_);
  if (!came_.empty() || cancelled_ || (since && interruptions_ != *since)) return false;
  idle_.push_back(&worker);
  return true;
}

void Arrivals::sleep(Worker& worker, std::optional<TimePoint> until, bool exactly) {
  WakeUp& wake = wakes_[worker.number];
  if (!until) return wake.wait();
  const Instant end{until->time_since_epoch()};
  const Duration ahead =
      exactly ? linux_os::wakes_ahead(end - linux_os::monotonic_now()) : Duration{0};
  const bool is_signalled = wake.wait_until(*until - ahead);
  bool is_found = true;
  {
    // Also after a signal: the thread sanitizer does not know that sem_clockwait() orders memory.
    const std::scoped_lock lock(mutex_);
    if (!is_signalled) {
      is_found = std::erase(idle_, &worker) == 0;
      is_wanted_ |= is_found;
    }
  }
  if (!is_found) {
    if (exactly) linux_os::poll_until(end, [this] { return is_unseen_.load(); });
  } else if (!is_signalled) {
    // Somebody has found it among the idle ones and signals it.
    wake.wait();
  }
}

Worker* Arrivals::take_idle() {
  const std::scoped_lock lock(mutex_);
  if (idle_.empty()) return nullptr;
  Worker* worker = idle_.back();
  idle_.pop_back();
  is_wanted_ = false;
  return worker;
}

void Arrivals::hand_back(Worker& worker) {
  WakeUp* woken = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    if (!worker.has_job) {
      if (came_.empty() && !is_wanted_) {
        idle_.push_back(&worker);
        return;
      }
      is_waking_ = true;
      is_unseen_.store(true, std::memory_order_release);
    }
    woken = &wakes_[worker.number];
  }
  woken->signal();
}

void Arrivals::interrupt() {
  const std::scoped_lock lock(mutex_);
  ++interruptions_;
  wake_all();
}

void Arrivals::cancel() {
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  wake_all();
}

/// With the lock held.
void Arrivals::wake_all() {
  is_wanted_ = true;
  for (const Worker* worker : idle_) wakes_[worker->number].signal();
  idle_.clear();
}

}  // namespace takt::executor
