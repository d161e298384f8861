#include "processors.hpp"

#include <algorithm>
#include <utility>

namespace takt::simulation {

namespace {

/// How long threads that are neither deadline nor fifo take turns.
constexpr Duration time_slice = std::chrono::milliseconds{3};

}  // namespace

Withheld::Withheld(const model::FixedPrioritySupply& supply, ReservationModel model, Random random)
    : time_(supply.withheld), period_(supply.withheld_period), model_(model), places_(random) {
  if (model == ReservationModel::latest) first_period_ += time_ - period_;
  if (model == ReservationModel::random) {
    first_period_ -= Random::scale(places_.next(), period_ - epsilon);
  }
}

Instant Withheld::begin(std::int64_t period) const {
  const Instant start = first_period_ + period * period_;
  const Duration slack = period_ - time_;
  switch (model_) {
    case ReservationModel::random:
      return start + Random::scale(places_.at(static_cast<std::uint64_t>(period)), slack);
    case ReservationModel::latest:
      // Two stretches follow each other as the simulation begins.
      return period == 0 ? start + slack : start;
    case ReservationModel::constant_bandwidth:
      break;
  }
  return start + slack;
}

Withheld::Stretch Withheld::next(Instant now) const {
  for (std::int64_t period = (now - first_period_) / period_;; ++period) {
    const Instant start = begin(period);
    if (start + time_ > now) return {start, start + time_};
  }
}

bool Withheld::at(Instant now) const { return next(now).begin <= now; }

Instant Withheld::next_change(Instant now) const {
  const Stretch stretch = next(now);
  return stretch.begin > now ? stretch.begin : stretch.end;
}

const Withheld* Processors::withheld_from(const Thread& thread) const {
  const auto& [policy, priority, cpu, reservation] = thread.parameters;
  const bool concerned = policy == ThreadPolicy::fifo && cpu && withheld_[*cpu];
  return concerned ? &*withheld_[*cpu] : nullptr;
}

Processors::Processors(std::size_t cores, const std::vector<ThreadParameters>& threads)
    : cores_(cores), withheld_(cores), taken_(cores) {
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
    if (const Withheld* withheld = withheld_from(thread)) consider(withheld->next_change(now_));
  }
  return next;
}

}  // namespace takt::simulation
