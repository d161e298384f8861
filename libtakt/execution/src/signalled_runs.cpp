#include "takt/execution/signalled_runs.hpp"

#include <utility>

#include "takt/base/grow.hpp"

namespace takt::execution {

SignalledRuns::Phase SignalledRuns::phase(ThreadIndex thread) const {
  return thread.value() < states_.size() ? states_[thread.value()].phase : Phase::idle;
}

void SignalledRuns::choose(ThreadIndex thread, ObservedCallbackIndex callback) {
  State& now = grow_to(states_, thread);
  now.phase = Phase::chosen;
  now.callback = callback;
}

SignalledRuns::Meaning SignalledRuns::signal(ThreadIndex thread, Instant time,
                                             std::uint64_t guard_condition) {
  const Phase before = phase(thread);
  if (before == Phase::idle) return Meaning::nothing;
  State& now = states_[thread.value()];
  if (before == Phase::chosen) {
    now.phase = Phase::running;
    now.guard_condition = guard_condition;
    return Meaning::begin;
  }
  if (guard_condition != now.guard_condition) return Meaning::nothing;
  if (before == Phase::running) {
    now.phase = Phase::over;
    now.end = time;
    return Meaning::perhaps_end;
  }
  now.phase = Phase::unclear;
  return Meaning::nothing;
}

bool SignalledRuns::disturb(ThreadIndex thread) {
  if (phase(thread) < Phase::over) return true;
  states_[thread.value()].phase = Phase::unclear;
  return false;
}

ObservedCallbackIndex SignalledRuns::chosen(ThreadIndex thread) const {
  return states_[thread.value()].callback;
}

bool SignalledRuns::is_open(ThreadIndex thread) const { return phase(thread) > Phase::chosen; }

std::optional<Instant> SignalledRuns::leave(ThreadIndex thread) {
  const Phase before = phase(thread);
  if (before == Phase::idle) return std::nullopt;
  State& now = states_[thread.value()];
  now.phase = Phase::idle;
  return before == Phase::over ? std::optional(now.end) : std::nullopt;
}

}  // namespace takt::execution
