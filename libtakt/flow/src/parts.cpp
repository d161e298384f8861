#include "takt/flow/parts.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <numeric>

namespace takt::flow {

namespace {

Duration sum(std::span<const Part> parts) {
  return std::accumulate(parts.begin(), parts.end(), Duration{0},
                         [](Duration total, const Part& part) { return total + part.duration; });
}

}  // namespace

Arrival arrival_of(const Activation& activation) {
  using Known = Arrival::Known;
  const auto& [late, due, times, not_before, by_memory, wait_begin, wait_end, first_after_wait] =
      activation;
  if (late) return {Known::late, late->since, late->arrival};
  if (due) return {Known::due, *due, {}};
  // Fast DDS may have had a message that was taken from shared memory, too.
  if (times && !by_memory) return {Known::sent, times->written, times->received};
  const Stage way = by_memory ? Stage::in_shared_memory : Stage::in_transport;
  if (wait_begin >= wait_end) return {Known::nothing, {}, {}, way};
  return {first_after_wait ? Known::waited_last : Known::waited, wait_begin, wait_end, way,
          not_before.value_or(Instant::min())};
}

std::optional<Instant> ArrivalOrder::not_before(const execution::CallbackInstance& instance,
                                                const execution::Publication& publication) {
  if (!instance.taken || !publication.publisher || publication.intra_process) return std::nullopt;
  auto& [taken, not_before] = newest_[{instance.callback, *publication.publisher}];
  std::optional<Instant> found;
  if (taken < *instance.taken && publication.sent < not_before) found = not_before;
  // A sleep, as shorter waits end at once if the message is there.
  const bool ended_sleep = instance.first_after_wait && instance.slept_until &&
                           instance.slept_until == instance.wait_end;
  if (ended_sleep && publication.sent < *instance.slept_until) {
    not_before = std::max(not_before, *instance.slept_until);
  }
  taken = std::max(taken, *instance.taken);
  return found;
}

Duration Breakdown::latency() const { return sum(std::span(parts).subspan(first, last - first)); }

Duration Breakdown::span() const { return sum(parts); }

std::array<Duration, stages> Breakdown::sums() const {
  std::array<Duration, stages> totals{};
  for (std::size_t i = first; i < last; ++i) {
    totals[static_cast<std::size_t>(parts[i].stage)] += parts[i].duration;
  }
  return totals;
}

Peers::Peers(const std::vector<execution::Executor>& executors, std::size_t threads)
    : peers_(threads) {
  for (const execution::Executor& executor : executors) {
    add(executor.threads);
    std::ranges::for_each(executor.former, [this](const auto& group) { add(group); });
  }
}

void Peers::add(const std::vector<execution::ThreadIndex>& threads) {
  for (const execution::ThreadIndex thread : threads) {
    std::ranges::copy_if(threads, std::back_inserter(peers_[thread.value()]),
                         [thread](execution::ThreadIndex other) { return other != thread; });
  }
}

Splitter::Splitter(const History& history, const execution::Database& database,
                   const ThreadStates& states)
    : history_(history),
      database_(database),
      states_(states),
      peers_(history.store().executors().executors(database.objects(), database.threads()),
             database.threads().threads().size()) {}

std::optional<Splitter::Cursor::Sent> Splitter::sent(const Message* message) {
  if (message == nullptr) return std::nullopt;
  return Cursor::Sent{message->sent, message->intra_process};
}

Instant Splitter::due(const Run& run) const {
  return run.activation + history_.store().correction(run.callback);
}

Arrival Splitter::arrival(InstanceId id, const Run& run, const Message* message) const {
  // A timer that fires once: its message is that it was made, and it was due a period later.
  const execution::Objects& objects = database_.objects();
  const execution::Callback& callback = objects[run.callback];
  const auto due = message != nullptr && callback.triggers
                       ? std::optional(message->sent + objects[*callback.timer].period)
                       : std::nullopt;
  return arrival_of({.late = history_.store().late(id),
                     .due = due,
                     .times = history_.store().times(id),
                     .not_before = history_.store().not_before(id),
                     .by_memory = run.by_memory,
                     .wait_begin = run.wait_begin,
                     .wait_end = run.wait_end,
                     .first_after_wait = run.first_after_wait});
}

/// Adds the time of a message until a timer or a periodic thread took it: until that is due, then
/// until it runs, then while it runs.
void Splitter::add_reading(Cursor& cursor, const Hop& hop, const Run& reader) const {
  const Store& store = history_.store();
  const Instant taken = store.find(hop.run)->start;
  if (const Message* const message = store.find(hop.message)) {
    cursor.until(std::min(message->sent, taken), {Stage::sending});
  }
  const bool by_memory = store.find(hop.run)->by_memory;
  if (const auto times = by_memory ? std::nullopt : store.times(hop.run)) {
    cursor.until(std::min(times->written, taken), {Stage::sending});
    cursor.until(std::min(times->received, taken), {Stage::in_transport});
  }
  cursor.deliver(std::nullopt, {Arrival::Known::due, due(reader), {}}, reader.start, reader.thread);
  cursor.run(taken, reader.thread, store.reader_of(hop.run));
  cursor.back_to(taken);
}

/// Adds the time of a message on its way to a run, and its wait until the run starts.
void Splitter::add_delivery(Cursor& cursor, const Hop& hop) const {
  const Store& store = history_.store();
  const Run& run = *store.find(hop.run);
  if (const Run* const reader = store.find(store.reader_of(hop.run))) {
    const execution::Callback& callback = database_.objects()[reader->callback];
    if (callback.timer || callback.event_source) {
      add_reading(cursor, hop, *reader);
      return;
    }
  }
  const Message* const message = store.find(hop.message);
  cursor.deliver(sent(message), arrival(hop.run, run, message), run.start, run.thread);
  cursor.back_to(run.start);
}

/// Adds the wait of a stored message for the run that uses it, and that run until it sends `next`.
void Splitter::add_stored(Cursor& cursor, const Hop& hop, const Message& next) const {
  const Store& store = history_.store();
  const Run& run = *store.find(hop.run);
  const Run* const sender = store.find(next.run);
  cursor.run(run.end, run.thread, hop.run);
  if (sender == nullptr) {
    // Another thread has got it.
    cursor.run(next.begin, next.thread, InstanceId::none);
    return;
  }
  if (hop.kind == LinkKind::periodic_async) {
    cursor.next_step();
    cursor.deliver(std::nullopt, {Arrival::Known::due, due(*sender), {}}, sender->start,
                   sender->thread);
  } else {
    const Message* const other = store.find(sender->source);
    cursor.until(std::min(other == nullptr ? sender->start : other->begin, sender->start),
                 {Stage::waiting_for_input});
    if (other != nullptr) {
      add_delivery(cursor, {sender->source, next.run, LinkKind::direct});
    }
  }
  cursor.run(next.begin, sender->thread, next.run);
}

Breakdown Splitter::split(const Trail& trail) const {
  const Store& store = history_.store();
  assert(!trail.hops.empty());
  Breakdown breakdown;
  const Hop& source = trail.hops.front();
  const Run* const root = store.find(source.run);
  const Message* const first =
      store.find(trail.hops.size() > 1 ? trail.hops[1].message : trail.last);
  assert((root != nullptr || first != nullptr) && "the walk has been at the trail's beginning");
  Cursor cursor(*this, root != nullptr ? root->start : first->begin);
  for (std::size_t i = 0; i < trail.hops.size(); ++i) {
    const Hop& hop = trail.hops[i];
    const bool is_last = i + 1 == trail.hops.size();
    const PublicationId next_id = is_last ? trail.last : trail.hops[i + 1].message;
    const Message* const next = store.find(next_id);
    if (i > 0) {
      cursor.next_step();
      add_delivery(cursor, hop);
    }
    const Run* const run = store.find(hop.run);
    if (is_last && next == nullptr) {
      breakdown.last = cursor.parts().size();
    }
    if (run != nullptr) {
      if (next != nullptr && next->run != hop.run) {
        add_stored(cursor, hop, *next);
      } else {
        cursor.run(next == nullptr ? run->end : std::min(next->begin, run->end), run->thread,
                   hop.run);
        // A response can be sent when the service's callback has ended.
        cursor.until(next == nullptr ? run->end : next->begin, {Stage::sending});
      }
    }
    // A source that only stores, or whose message is not in the trace, counts from its start.
    if (i == 0 && next != nullptr && (run == nullptr || next->run == hop.run)) {
      breakdown.first = cursor.parts().size();
    }
    if (is_last && next != nullptr) {
      breakdown.last = cursor.parts().size();
    }
  }
  breakdown.before_readers = cursor.left_out();
  breakdown.parts = cursor.take();
  return breakdown;
}

}  // namespace takt::flow
