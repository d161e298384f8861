#include "processors.hpp"

#include <algorithm>
#include <utility>

namespace takt::simulation {

namespace {

/// How long threads that are neither deadline nor fifo take turns.
constexpr Duration time_slice = std::chrono::milliseconds{3};

}  // namespace

Processors::Processors(std::size_t cores, const std::vector<ThreadParameters>& threads)
    : cores_(cores), taken_(cores) {
  for (const ThreadParameters& parameters : threads) {
    Thread thread{.parameters = parameters, .server = {}};
    if (thread.parameters.policy == ThreadPolicy::deadline) {
      thread.server.emplace(thread.parameters.reservation);
    }
    pinned_ = pinned_ || parameters.cpu;
    threads_.push_back(thread);
  }
}

void Processors::start(std::size_t index, Instant now, Duration work) {
  Thread& thread = threads_[index];
  const bool was_blocked = thread.idle_since != now;
  thread.has_work = true;
  active_.insert(std::ranges::lower_bound(active_, index), index);
  thread.work = work;
  if (!was_blocked) return;
  thread.turn = ++turns_;
  thread.slice = time_slice;
  if (thread.server) thread.server->wake(now);
}

void Processors::advance(Instant now, std::vector<std::size_t>& done) {
  const Duration elapsed = now - now_;
  now_ = now;
  const std::size_t before = done.size();
  for (const std::size_t i : active_) {
    Thread& thread = threads_[i];
    if (thread.running) {
      thread.work -= elapsed;
      thread.slice -= elapsed;
      if (thread.server) thread.server->consume(elapsed);
      if (thread.work == Duration{0}) {
        thread.has_work = false;
        thread.running = false;
        thread.idle_since = now;
        done.push_back(i);
        continue;
      }
      if (thread.slice <= Duration{0}) {
        thread.slice = time_slice;
        if (thread.parameters.policy == ThreadPolicy::other) thread.turn = ++turns_;
      }
    }
    if (thread.has_work && thread.server && thread.server->throttled() &&
        thread.server->next_period() <= now) {
      thread.server->replenish();
    }
  }
  if (done.size() > before)
    std::erase_if(active_, [&](std::size_t i) { return !threads_[i].has_work; });
}

Processors::Urgency Processors::urgency(const Thread& thread) {
  switch (thread.parameters.policy) {
    case ThreadPolicy::deadline:
      return {0, thread.server->deadline().time_since_epoch().count(), thread.turn};
    case ThreadPolicy::fifo:
      return {1, -thread.parameters.priority, thread.turn};
    case ThreadPolicy::other:
      break;
  }
  return {2, 0, thread.turn};
}

void Processors::reschedule() {
  candidates_.clear();
  for (const std::size_t i : active_) {
    threads_[i].running = false;
    if (may_run(threads_[i])) candidates_.emplace_back(urgency(threads_[i]), i);
  }
  // Where there is a core for each, their order decides nothing.
  if (candidates_.size() > cores_ || pinned_) std::ranges::sort(candidates_);
  taken_.assign(cores_, false);
  std::size_t left = cores_;
  for (const auto& [urgency, i] : candidates_) {
    if (left == 0) break;
    Thread& thread = threads_[i];
    if (const auto cpu = thread.parameters.cpu) {
      if (taken_[*cpu]) continue;
      taken_[*cpu] = true;
    }
    thread.running = true;
    --left;
  }
}

std::optional<Instant> Processors::next_change() const {
  std::optional<Instant> next;
  const auto consider = [&](Instant when) { next = next ? std::min(*next, when) : when; };
  for (const std::size_t i : active_) {
    const Thread& thread = threads_[i];
    if (thread.running) {
      consider(now_ + thread.work);
      if (thread.server) consider(now_ + thread.server->budget());
      if (thread.parameters.policy == ThreadPolicy::other) consider(now_ + thread.slice);
    } else if (thread.has_work && thread.server && thread.server->throttled()) {
      consider(thread.server->next_period());
    }
  }
  return next;
}

}  // namespace takt::simulation
