#include "dispatcher.hpp"

#include <algorithm>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/executor/decision_trace.hpp"

namespace takt::executor {

using scheduling::Queueing;

// --- What is run

Result<void> Dispatcher::keep_only(std::span<const ScheduledExecutable> executables) {
  for (Entry& entry : entries_) {
    if (entry.is_free() || entry.is_removed) continue;
    entry.is_removed = std::ranges::find(executables, entry.executable,
                                         &ScheduledExecutable::executable) == executables.end();
    if (!entry.is_removed) continue;
    TAKT_TRY(entry.listening.end());
  }
  return {};
}

Result<void> Dispatcher::adopt(std::span<const ScheduledExecutable> executables,
                               std::unique_ptr<scheduling::Policy> policy, std::size_t callbacks,
                               const CallbackGroups& groups) {
  std::vector<scheduling::Instance> waiting =
      dispatch_.replace(std::move(policy), callbacks, own_origin_, groups);
  std::erase_if(waiting, [&](const scheduling::Instance& instance) {
    return entries_[instance.payload].is_removed;
  });
  for (Entry& entry : entries_) {
    if (entry.is_removed && entry.running == 0) entry = {};
  }
  for (const ScheduledExecutable& scheduled : executables) {
    TAKT_TRY(schedule(scheduled));
  }
  std::vector<std::size_t> waiting_of(entries_.size());
  for (const scheduling::Instance& instance : waiting) {
    dispatch_.wait_on(entries_[instance.payload].callback, instance);
    ++waiting_of[instance.payload];
  }
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    Entry& entry = entries_[i];
    if (entry.is_free() || entry.is_removed) continue;
    if (entry.timer != nullptr) {
      const bool keeps_newest = dispatch_.queueing(entry.callback) == Queueing::newest_only;
      entry.staying = std::min(waiting_of[i], keeps_newest ? 1 : TimerExecutable::most_waiting);
    } else if (Result<void> done = let_stay_or_bind(entry, waiting_of[i]); !done) {
      return done;
    }
  }
  for (const Entry& entry : entries_) {
    if (missed_ == MissedExpiries::latest && entry.timer != nullptr && !entry.is_removed) {
      dispatch_.limit_queue(entry.callback, 1);
    }
    for (std::size_t n = 0; n < entry.running && !entry.is_removed; ++n) {
      dispatch_.runs_on(entry.callback);
    }
  }
  return {};
}

/// As many instances of the entry wait, and its messages stay under the present policy or do not.
Result<void> Dispatcher::let_stay_or_bind(Entry& entry, std::size_t waiting) {
  const scheduling::Queueing queueing = dispatch_.queueing(entry.callback);
  const std::size_t room = entry.messages->room(queueing);
  if (room > 0 && entry.room == 0) entry.bound = waiting;
  if (room == 0) {
    for (; entry.staying > 0; --entry.staying) {
      TAKT_TRY(entry.messages->admit(queueing));
    }
    entry.bound = 0;
  }
  entry.room = room;
  return {};
}

/// Gives an executable an entry, unless it has one, and lets it report what comes.
Result<void> Dispatcher::schedule(const ScheduledExecutable& scheduled) {
  auto entry = std::ranges::find_if(entries_, [&](const Entry& known) {
    return known.executable == scheduled.executable && !known.is_removed;
  });
  if (entry != entries_.end()) {
    entry->callback = scheduled.callback;
    return {};
  }
  entry = std::ranges::find_if(entries_, &Entry::is_free);
  if (entry == entries_.end()) entry = entries_.insert(entry, Entry{});
  *entry = {.executable = scheduled.executable,
            .messages = dynamic_cast<MessageExecutable*>(scheduled.executable),
            .timer = dynamic_cast<TimerExecutable*>(scheduled.executable),
            .traced = scheduled.executable->traced_callback(),
            .callback = scheduled.callback};
  MessageExecutable* const messages = entry->messages;
  if (messages == nullptr) return {};
  messages->set_workers(dispatch_.threads());
  // Small enough that a std::function keeps it in itself.
  const auto arrived = [&arrivals = arrivals_,
                        index = static_cast<std::size_t>(entry - entries_.begin())](
                           std::size_t count) { arrivals.note(index, count); };
  auto listening = Listening::begin(
      messages->source(), [&] { return messages->notify(arrived); },
      [messages] { return messages->notify({}); });
  if (!listening) return tl::unexpected(listening.error());
  entry->listening = std::move(*listening);
  return {};
}

void Dispatcher::stop_listening() {
  for (Entry& entry : entries_) (void)entry.listening.end();
}

std::vector<TimerReleaser::Watched> Dispatcher::timers() const {
  std::vector<TimerReleaser::Watched> timers;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].timer == nullptr || entries_[i].is_removed) continue;
    timers.push_back({.timer = entries_[i].timer, .id = i});
  }
  return timers;
}

bool Dispatcher::removed_run(std::span<const std::size_t> but) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].is_removed) continue;
    if (entries_[i].running > static_cast<std::size_t>(std::ranges::count(but, i))) return true;
  }
  return false;
}

// --- What waits

[[gnu::always_inline]] inline std::optional<std::size_t> Dispatcher::release(const Entry& entry,
                                                                             const Arrival& arrival,
                                                                             Instant origin) {
  if (entry.traced != nullptr) {
    trace_release(entry.traced, arrival.when, own_origin_ ? arrival.when : origin,
                  dispatch_.completed());
  }
  return dispatch_.release(entry.callback, arrival.when, origin, arrival.entry);
}

/// How many instances an expiry, or messages that stay where they are, activate.
inline std::size_t Dispatcher::count_activated(Entry& entry, const Arrival& arrival) {
  if (entry.timer != nullptr) {
    const std::size_t most = missed_ == MissedExpiries::skip ? 1 : TimerExecutable::most_waiting;
    if (entry.staying >= most) return 0;
    ++entry.staying;
    return 1;
  }
  const std::size_t free = entry.room - std::min(entry.room, entry.staying + entry.bound);
  const std::size_t activated = std::min(arrival.count, free);
  entry.staying += activated;
  return activated;
}

Result<void> Dispatcher::admit(std::span<const Arrival> arrivals) {
  for (const Arrival& arrival : arrivals) {
    Entry& entry = entries_[arrival.entry];
    if (entry.is_removed) continue;
    if (entry.messages != nullptr && entry.room == 0) {
      TAKT_TRY(admit_messages(entry, arrival));
      continue;
    }
    const Instant origin = entry.timer != nullptr ? arrival.when : arrival.origin;
    for (std::size_t n = count_activated(entry, arrival); n > 0; --n) {
      const std::optional<std::size_t> displaced = release(entry, arrival, origin);
      if (displaced) leave(entries_[*displaced]);
    }
  }
  return {};
}

Result<void> Dispatcher::admit_messages(const Entry& entry, const Arrival& arrival) {
  const Queueing queueing = dispatch_.queueing(entry.callback);
  for (std::size_t i = 0; i < arrival.count; ++i) {
    const auto admitted = entry.messages->admit(queueing);
    if (!admitted) return tl::unexpected(admitted.error());
    if (!admitted->activates) continue;
    (void)release(entry, arrival, admitted->origin.value_or(arrival.origin));
  }
  return {};
}

// --- What runs next

/// Lets the executable choose the message of the worker's job, if it did not stay in the
/// middleware.
void Dispatcher::choose_message(Worker& worker) {
  const Job& job = worker.job;
  Entry& entry = entries_[job.entry()];
  if (entry.bound > 0) --entry.bound;
  job.messages->choose(dispatch_.queueing(job.chosen.callback), job.chosen.newer, worker.number);
}

}  // namespace takt::executor
