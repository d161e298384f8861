#include "takt/execution/callback_tracker.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

/// An executor that runs nothing takes less time than this between two of its events.
constexpr Duration longest_choice = std::chrono::microseconds(100);

/// Up to this, a thread's clock and those of its waits differ, as they are not read at once.
constexpr Duration clocks_apart = std::chrono::microseconds(100);

/// A wait that takes longer was a sleep: nothing was ready when it began.
constexpr Duration shortest_sleep = std::chrono::milliseconds(1);

/// At most so many callbacks of a thread run within each other (callbacks that spin). Beyond that
/// the outermost is taken for one that never ends.
constexpr std::size_t most_nested = 256;

/// An end that comes after so many others of its thread's callbacks were cut off is not expected.
constexpr std::size_t most_cut = 16;

}  // namespace

CallbackTracker::State& CallbackTracker::state(ThreadIndex thread) {
  return grow_to(states_, thread);
}

const CallbackTracker::State* CallbackTracker::find(ThreadIndex thread) const {
  return thread.value() < states_.size() ? &states_[thread.value()] : nullptr;
}

const CallbackInstance* CallbackTracker::current(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now == nullptr || now->stack.empty() ? nullptr : &now->stack.back().instance;
}

bool CallbackTracker::may_run_unannounced(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now != nullptr && now->stack.empty() && (now->speaks_since || now->last_end);
}

bool CallbackTracker::tells_what_it_does(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now != nullptr && now->speaks_since.has_value();
}

std::optional<Instant> CallbackTracker::spins_since(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now == nullptr ? std::nullopt : now->speaks_since;
}

bool CallbackTracker::is_of_executor(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now != nullptr && (now->speaks_since || now->runs_callbacks);
}

CallbackInstance& CallbackTracker::start_unannounced(ThreadIndex thread, Instant time,
                                                     ObservedCallbackIndex callback) {
  CallbackInstance& instance = start(thread, time, 0, callback);
  instance.is_unannounced = true;
  return instance;
}

CallbackInstance& CallbackTracker::start_signalled(ThreadIndex thread, Instant time,
                                                   ObservedCallbackIndex callback) {
  CallbackInstance& instance = start_unannounced(thread, time, callback);
  instance.is_signalled = true;
  return instance;
}

const CallbackInstance* CallbackTracker::end_unannounced(ThreadIndex thread, Instant time) {
  State& now = state(thread);
  if (now.stack.empty()) return nullptr;
  const CallbackInstance& instance = now.stack.back().instance;
  return instance.is_unannounced || instance.may_lack_end ? pop(now, time) : nullptr;
}

void CallbackTracker::cancel_unannounced(ThreadIndex thread) {
  State& now = state(thread);
  if (now.stack.empty() || !now.stack.back().instance.is_unannounced) {
    return;
  }
  // Waits that were seen before this belong to the next instance.
  const CallbackInstance& instance = now.stack.back().instance;
  now.waited = instance.first_after_wait;
  now.before_wait = now.before_unannounced;
  now.stack.pop_back();
}

Instant CallbackTracker::last_activity(ThreadIndex thread) const {
  const State* const now = find(thread);
  return now == nullptr || now->stack.empty() ? Instant{} : now->stack.back().last_activity;
}

void CallbackTracker::note_activity(ThreadIndex thread, Instant time) {
  State& now = state(thread);
  if (!now.stack.empty()) {
    now.stack.back().last_activity = time;
  }
}

CallbackInstance* CallbackTracker::find_open(InstanceId id) {
  for (State& now : states_) {
    for (Open& open : now.stack) {
      if (open.instance.id == id) {
        return &open.instance;
      }
    }
  }
  return nullptr;
}

std::optional<Duration> CallbackTracker::overhead(const State& state, Instant start) {
  // Without wait events (EventsExecutor) the executor may have been idle between instances.
  if (!state.last_end || !state.has_waits || (state.waited && !state.before_wait)) {
    return std::nullopt;
  }
  if (!state.waited) {
    return start - *state.last_end;
  }
  // Time between two waits during which nothing was ready is no cost of an instance.
  return *state.before_wait + (start - *state.wait_end);
}

CallbackInstance& CallbackTracker::start(ThreadIndex thread, Instant time, std::uint64_t handle,
                                         ObservedCallbackIndex callback) {
  State& now = state(thread);
  now.runs_callbacks = now.runs_callbacks || handle != 0;
  end_wait(now, time);
  const Instant chosen = std::exchange(now.chosen_since, std::nullopt).value_or(time);
  if (!now.stack.empty()) {
    cut(now, std::ranges::find(now.stack, handle, &Open::handle));
  }
  if (now.stack.size() == most_nested) {
    now.stack.erase(now.stack.begin());
    ++anomalies_.orphan_starts;
  }
  CallbackInstance instance;
  instance.id = next_id();
  instance.callback = callback;
  instance.thread = thread;
  instance.start = time;
  instance.chosen = chosen;
  instance.wait_begin = now.wait_begin;
  instance.wait_end = now.wait_end;
  instance.first_after_wait = now.waited;
  instance.slept_from = now.slept_from;
  instance.slept_until = now.slept_until;
  instance.earlier_wait = now.waits.back();
  if (now.stack.empty()) {
    instance.overhead = overhead(now, time);
    if (instance.overhead) instance.before_turn = now.before_turn;
  }
  now.waited = false;
  now.before_unannounced = std::exchange(now.before_wait, std::nullopt);
  now.stack.push_back({.handle = handle,
                       .cpu_at_start = {},
                       .waits_at_start = {},
                       .instance = instance,
                       .last_activity = time});
  return now.stack.back().instance;
}

void CallbackTracker::cut(State& now, std::vector<Open>::iterator first) {
  for (auto open = first; open != now.stack.end(); ++open) {
    ++anomalies_.orphan_starts;
    if (now.cut.size() == most_cut) now.cut.erase(now.cut.begin());
    now.cut.push_back(open->handle);
  }
  now.stack.erase(first, now.stack.end());
}

const CallbackInstance* CallbackTracker::end(ThreadIndex thread, Instant time,
                                             std::uint64_t handle) {
  State& now = state(thread);
  const auto found = std::ranges::find(std::views::reverse(now.stack), handle, &Open::handle);
  if (found == now.stack.rend()) {
    ++anomalies_.orphan_ends;
    if (std::erase(now.cut, handle) != 0) {
      ++anomalies_.overlapping_callbacks;
      if (!std::exchange(now.is_mixed, true)) mixed_.push_back(thread);
    }
    return nullptr;
  }
  // Callbacks that started after it on this thread, and did not end before it, can no longer end.
  // If one does, another process ran it.
  if (found != now.stack.rbegin()) cut(now, found.base());
  return pop(now, time);
}

const CallbackInstance* CallbackTracker::pop(State& now, Instant time) {
  Open& open = now.stack.back();
  now.ended = open.instance;
  now.ended.end = time;
  if (open.cpu_known_later && *now.cpu_now >= *open.cpu_at_start) {
    now.ended.cpu_time = *now.cpu_now - *open.cpu_at_start;
    now.ended.suspended = suspended(open, now, time);
  }
  now.stack.pop_back();
  now.last_end = time;
  now.chosen_since.reset();
  now.cpu_at_end = now.cpu_now;
  now.before_turn.reset();
  now.before_wait.reset();
  now.waited = false;
  return &now.ended;
}

std::optional<Suspended> CallbackTracker::suspended(const Open& open, const State& now,
                                                    Instant end) {
  const std::optional<Waits>& first = open.waits_at_start;
  const std::optional<Waits>& last = now.waits_now;
  if (!first || !last || first->time.has_value() != last->time.has_value()) {
    return std::nullopt;
  }
  const std::int64_t times = std::max<std::int64_t>(0, last->times - first->times);
  const Duration idle = end - open.instance.start - (*now.cpu_now - *open.cpu_at_start);
  const bool knows_ready = first->ready && last->ready;
  Duration ready = knows_ready ? *last->ready - *first->ready : Duration{0};
  // While its reservation is used up, a thread neither waits nor counts as ready.
  if (times == 0 && !last->time && idle - ready > clocks_apart) ready = idle;
  const Duration time = last->time ? *last->time - *first->time : idle - ready;
  return Suspended{.times = times,
                   .time = times == 0 ? Duration{0} : std::max(Duration{0}, time),
                   .by_scheduler = last->time.has_value(),
                   .ready = std::max(Duration{0}, ready)};
}

void CallbackTracker::cpu_time(ThreadIndex thread, Duration time, std::optional<Waits> waits) {
  State& now = state(thread);
  now.cpu_now = time;
  now.waits_now = waits;
  // An instance that no event names (is_unannounced) has no known start, so a reading of the clock
  // during it does not say how long it ran.
  if (now.stack.empty() ||
      (now.stack.back().instance.is_unannounced && !now.stack.back().instance.is_signalled)) {
    return;
  }
  Open& open = now.stack.back();
  if (open.cpu_at_start) {
    open.cpu_known_later = true;
    return;
  }
  open.cpu_at_start = time;
  open.waits_at_start = waits;
  if (waits) open.instance.beginning = {time, waits->times};
  // The processor clock tells the overhead net of preemption, but not net of polling while idle.
  if (now.stack.size() == 1 && now.cpu_at_end && time >= *now.cpu_at_end) {
    const Duration overhead = time - *now.cpu_at_end;
    open.instance.overhead = std::min(open.instance.overhead.value_or(overhead), overhead);
    open.instance.before_turn.reset();
  }
}

void CallbackTracker::change_clock(ThreadIndex thread) {
  State& now = state(thread);
  now.cpu_now.reset();
  now.waits_now.reset();
  now.cpu_at_end.reset();
  for (Open& open : now.stack) {
    open.cpu_at_start.reset();
    open.waits_at_start.reset();
    open.cpu_known_later = false;
    open.instance.beginning.reset();
    open.instance.by_scheduler = false;
  }
}

void CallbackTracker::executor_event(ThreadIndex thread, Instant time, bool is_waiting) {
  State& now = state(thread);
  ExecutorActivity& activity = grow_to(activity_, thread);
  ++activity.events;
  if (!now.speaks_since) now.speaks_since = time;
  if (now.last_end && !now.before_turn) now.before_turn = time - *now.last_end;
  const Duration since = now.chosen_since ? time - *now.chosen_since : Duration{0};
  if (now.stack.empty() && since > longest_choice) {
    ++activity.unnamed_runs;
    activity.unnamed_time += since;
    activity.longest_unnamed = std::max(activity.longest_unnamed, since);
  }
  now.chosen_since = is_waiting ? std::nullopt : std::optional(time);
}

void CallbackTracker::wait_begin(ThreadIndex thread, Instant time) {
  executor_event(thread, time, true);
  State& now = state(thread);
  if (!now.before_wait && now.last_end) {
    now.before_wait = time - *now.last_end;
  }
  end_sleep(now, time);
  now.waits = {time, now.waits[0], now.waits[1]};
  now.waiting_since = time;
  now.has_waits = true;
}

void CallbackTracker::wait_end(ThreadIndex thread, Instant time) {
  executor_event(thread, time, false);
  end_wait(state(thread), time);
}

void CallbackTracker::end_sleep(State& now, Instant time) {
  if (now.waiting_since && time - *now.waiting_since > shortest_sleep) {
    now.slept_from = now.waiting_since;
    now.slept_until = time;
  }
}

void CallbackTracker::end_wait(State& now, Instant time) {
  end_sleep(now, time);
  if (now.waiting_since) {
    now.wait_begin = std::exchange(now.waiting_since, std::nullopt);
    now.wait_end = time;
    now.waited = true;
  }
}

std::vector<CallbackInstance> CallbackTracker::finish() {
  std::vector<CallbackInstance> open;
  for (State& now : states_) {
    for (const Open& entry : now.stack) {
      open.push_back(entry.instance);
    }
    now.stack.clear();
  }
  anomalies_.open_instances += open.size();
  return open;
}

}  // namespace takt::execution
