#include "takt/flow/parts.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>

namespace takt::flow {

std::string_view to_string(Stage stage) {
  constexpr std::array<std::string_view, stages> names{"running",
                                                       "preempted",
                                                       "blocked",
                                                       "waiting_in_executor",
                                                       "waiting_for_timer",
                                                       "waiting_for_input",
                                                       "sending",
                                                       "in_transport",
                                                       "waiting_for_reservation"};
  return names[static_cast<std::size_t>(stage)];
}

namespace {

Duration sum(std::span<const Part> parts) {
  return std::accumulate(parts.begin(), parts.end(), Duration{0},
                         [](Duration total, const Part& part) { return total + part.duration; });
}

}  // namespace

Duration Breakdown::latency() const { return sum(std::span(parts).subspan(first, last - first)); }

Duration Breakdown::span() const { return sum(parts); }

std::array<Duration, stages> Breakdown::sums() const {
  std::array<Duration, stages> totals{};
  for (std::size_t i = first; i < last; ++i) {
    totals[static_cast<std::size_t>(parts[i].stage)] += parts[i].duration;
  }
  return totals;
}

/// Goes through the time of a flow from its beginning.
struct Splitter::Cursor {
  Instant now;
  std::uint32_t step = 0;
  std::vector<Part> parts;

  void until(Instant time, Part part) {
    if (time > now) {
      part.step = step;
      part.duration = time - now;
      parts.push_back(part);
      now = time;
    }
  }
  /// The clocks of two hosts may say that a message was handled before it was sent.
  void back_to(Instant time) {
    if (time < now) {
      parts.push_back({Stage::in_transport, step, time - now, InstanceId::none, no_actor});
      now = time;
    }
  }
};

Splitter::Splitter(const History& history, const execution::Database& database,
                   const ThreadStates& states)
    : history_(history),
      database_(database),
      states_(states),
      peers_(database.threads().threads().size()) {
  for (const execution::Executor& executor :
       history.store().executors().executors(database.objects(), database.threads())) {
    for (const execution::ThreadIndex thread : executor.threads) {
      std::ranges::copy_if(executor.threads, std::back_inserter(peers_[thread.value()]),
                           [thread](execution::ThreadIndex other) { return other != thread; });
    }
  }
}

/// Adds time in which a thread should run, split by why it did not.
void Splitter::add_by_state(Cursor& cursor, Instant until, execution::ThreadIndex thread,
                            Part on) const {
  for (const ThreadStates::Off& off : states_.off(thread, cursor.now, until)) {
    cursor.until(std::min(off.begin, until), on);
    Part part = on;
    part.actor = off.actor;
    switch (off.why) {
      case ThreadStates::Why::preempted:
        part.stage = Stage::preempted;
        break;
      case ThreadStates::Why::reservation:
        part.stage = Stage::waiting_for_reservation;
        break;
      case ThreadStates::Why::blocked:
        part.stage = on.stage == Stage::running ? Stage::blocked : on.stage;
        break;
    }
    cursor.until(std::min(off.end, until), part);
  }
  cursor.until(until, on);
}

/// Adds time in which the thread ran nothing: the other threads of its executor may have run.
void Splitter::add_idle(Cursor& cursor, Instant until, execution::ThreadIndex thread) const {
  const Store& store = history_.store();
  while (cursor.now < until) {
    Instant next = until;
    InstanceId ahead = InstanceId::none;
    Instant ahead_until = cursor.now;
    for (const execution::ThreadIndex peer : peers_[thread.value()]) {
      for (const InstanceId id : history_.overlapping(peer, cursor.now, until)) {
        const Run& other = *store.find(id);
        if (other.start > cursor.now) {
          next = std::min(next, other.start);
        } else if (other.end > ahead_until) {
          ahead = id;
          ahead_until = other.end;
        }
      }
    }
    if (ahead != InstanceId::none) {
      cursor.until(std::min(ahead_until, until), {Stage::waiting_in_executor, 0, {}, ahead});
    } else {
      add_by_state(cursor, next, thread, {Stage::waiting_in_executor});
    }
  }
}

/// Adds the wait in the executor, behind the runs of its thread meanwhile.
void Splitter::add_wait(Cursor& cursor, Instant until, execution::ThreadIndex thread) const {
  if (cursor.now >= until) {
    return;
  }
  for (const InstanceId id : history_.overlapping(thread, cursor.now, until)) {
    const Run& ahead = *history_.store().find(id);
    add_idle(cursor, std::min(ahead.start, until), thread);
    cursor.until(std::min(ahead.end, until), {Stage::waiting_in_executor, 0, {}, id});
  }
  add_idle(cursor, until, thread);
}

void Splitter::add_sending(Cursor& cursor, const Message& message, Instant limit) const {
  cursor.until(std::min(message.sent, limit), {Stage::sending});
}

/// Adds the time of a message on its way to a run, and its wait until the run starts.
void Splitter::add_delivery(Cursor& cursor, const Hop& hop) const {
  const Store& store = history_.store();
  const Run& run = *store.find(hop.run);
  const Message* const message = store.find(hop.message);
  const bool is_alone = peers_[run.thread.value()].empty();
  if (message != nullptr) {
    add_sending(cursor, *message, run.start);
  }
  if (const auto times = store.times(hop.run)) {
    cursor.until(std::min(times->written, run.start), {Stage::sending});
    cursor.until(std::min(times->received, run.start), {Stage::in_transport});
  } else if (message != nullptr && !message->intra_process) {
    if (run.has_wait()) {
      if (cursor.now < run.wait_end && (run.first_after_wait || is_alone)) {
        add_wait(cursor, run.wait_begin, run.thread);
        cursor.until(run.wait_end, {Stage::in_transport});
      }
    } else {
      // The thread's waits were not recorded. But an idle thread runs a message at once, so it had
      // not come before the thread's next run.
      const auto busy = history_.overlapping(run.thread, cursor.now, run.start);
      const Instant next = busy.empty() ? run.start : store.find(busy.front())->start;
      cursor.until(std::min(next, run.start), {Stage::in_transport});
    }
  }
  add_wait(cursor, run.start, run.thread);
  cursor.back_to(run.start);
}

/// Adds the wait of a stored message for the run that uses it, and that run until it sends `next`.
void Splitter::add_stored(Cursor& cursor, const Hop& hop, const Message& next) const {
  const Store& store = history_.store();
  const Run& run = *store.find(hop.run);
  const Run* const sender = store.find(next.run);
  add_by_state(cursor, run.end, run.thread, {Stage::running, 0, {}, hop.run});
  if (sender == nullptr) {
    return;
  }
  if (hop.kind == LinkKind::periodic_async) {
    ++cursor.step;
    const Instant due = sender->activation + store.correction(sender->callback);
    cursor.until(std::min(due, sender->start), {Stage::waiting_for_timer});
    add_wait(cursor, sender->start, sender->thread);
  } else {
    const Message* const other = store.find(sender->source);
    cursor.until(std::min(other == nullptr ? sender->start : other->begin, sender->start),
                 {Stage::waiting_for_input});
    if (other != nullptr) {
      add_delivery(cursor, {sender->source, next.run, LinkKind::direct});
    }
  }
  add_by_state(cursor, next.begin, sender->thread, {Stage::running, 0, {}, next.run});
}

Breakdown Splitter::split(const Trail& trail) const {
  const Store& store = history_.store();
  assert(!trail.hops.empty());
  Breakdown breakdown;
  Cursor cursor;
  const Run* const root = store.find(trail.hops.front().run);
  for (std::size_t i = 0; i < trail.hops.size(); ++i) {
    const Hop& hop = trail.hops[i];
    const bool is_last = i + 1 == trail.hops.size();
    const PublicationId next_id = is_last ? trail.last : trail.hops[i + 1].message;
    const Message* const next = store.find(next_id);
    if (i == 0) {
      assert((root != nullptr || next != nullptr) && "the walk has been at the trail's beginning");
      cursor.now = root != nullptr ? root->start : next->begin;
    } else {
      ++cursor.step;
      add_delivery(cursor, hop);
    }
    const Run* const run = store.find(hop.run);
    if (is_last && next == nullptr) {
      breakdown.last = cursor.parts.size();
    }
    if (run != nullptr) {
      if (next != nullptr && next->run != hop.run) {
        add_stored(cursor, hop, *next);
      } else {
        add_by_state(cursor, next == nullptr ? run->end : std::min(next->begin, run->end),
                     run->thread, {Stage::running, 0, {}, hop.run});
        // A response can be sent when the service's callback has ended.
        cursor.until(next == nullptr ? run->end : next->begin, {Stage::sending});
      }
    }
    // A source that only stores, or whose message is not in the trace, counts from its start.
    if (i == 0 && next != nullptr && (run == nullptr || next->run == hop.run)) {
      breakdown.first = cursor.parts.size();
    }
    if (is_last && next != nullptr) {
      breakdown.last = cursor.parts.size();
    }
  }
  breakdown.parts = std::move(cursor.parts);
  return breakdown;
}

}  // namespace takt::flow
