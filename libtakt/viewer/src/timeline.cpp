#include "timeline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "takt/base/grow.hpp"

namespace takt::viewer {
namespace {

using execution::ObservedCallbackIndex;
using execution::PublicationId;

std::int64_t number(std::size_t position) { return static_cast<std::int64_t>(position); }

/// Until when each subscription is known to be there: until its address was used again, or the last
/// that its process is seen to do.
std::vector<Instant> known_until(const execution::Objects& objects, const Recording& recording) {
  std::vector<std::optional<Instant>> last;  // by process
  const auto active = [&](ObservedCallbackIndex callback, Instant time) {
    std::optional<Instant>& known = grow_to(last, objects[callback].process);
    known = std::max(known.value_or(time), time);
  };
  for (const Run& run : recording.runs()) active(run.callback, run.end);
  for (const Take& take : recording.takes()) active(take.callback, take.time);
  std::vector<Instant> until(objects.subscriptions.size(), Instant::max());
  std::map<std::pair<execution::ProcessIndex, execution::Handle>, Instant> used_again;
  for (std::size_t i = until.size(); i-- > 0;) {
    const execution::Subscription& subscription = objects.subscriptions[i];
    until[i] = value_at(last, subscription.process).value_or(Instant::max());
    const auto [next, is_last] =
        used_again.try_emplace({subscription.process, subscription.handle}, subscription.since);
    if (!is_last) until[i] = std::min(until[i], std::exchange(next->second, subscription.since));
  }
  return until;
}

}  // namespace

struct Timeline::Row {
  /// Positions in the viewer's list of fates.
  enum class Fate : std::int64_t { taken, lost, unprocessed, beyond };

  const Sent& sent;
  std::int32_t source = -1;
  std::optional<Instant> taken;
  std::int32_t target = -1;
  Fate fate{};
};

Timeline::Timeline(const execution::Database& database, const Recording& recording,
                   const Scheduling& scheduling, Instant begin, const Storage& storage, Work& work)
    : recording_(recording),
      scheduling_(scheduling),
      storage_(storage),
      work_(work),
      begin_(begin),
      executors_(recording.executors().executors(database.objects(), database.threads())),
      peers_(executors_, database.threads().threads().size()),
      spans_of_(database.threads().threads().size()),
      by_start_(storage),
      order_(storage),
      track_of_(storage),
      span_of_(storage),
      message_to_(storage),
      messages_(storage),
      messages_from_(storage),
      spans_(storage, "spans",
             {{"track", Coding::delta}, {"start", Coding::delta}, {"duration"}, {"subject"}}),
      segments_(storage, "segments",
                {{"span", Coding::delta}, {"state"}, {"start"}, {"duration"}, {"actor"}}),
      message_table_(storage, "messages",
                     {{"topic"},
                      {"source", Coding::delta},
                      {"sent", Coding::delta},
                      {"taken", Coding::delta},
                      {"target", Coding::delta},
                      {"fate"}}) {
  place_runs();
  add_spans();
  add_messages(database);
  messages_from_ = Groups(storage_, recording_.runs().size(), messages_.size(), [&](std::size_t i) {
    const std::int32_t source = messages_[i].source;
    return source < 0 ? Groups::none : static_cast<std::size_t>(source);
  });
}

/// Instances were numbered as they began, so this is their order if events were in order.
void Timeline::sort_by_start() {
  const auto& runs = recording_.runs();
  for (const std::uint32_t position : recording_.positions()) {
    if (position != 0) {
      by_start_.push_back(position - 1);
    }
  }
  const auto key = [&](std::uint32_t run) { return std::pair(runs[run].start, run); };
  if (!std::ranges::is_sorted(by_start_, {}, key)) {
    std::ranges::sort(by_start_, {}, key);
  }
}

void Timeline::place_runs() {
  const auto& runs = recording_.runs();
  std::map<execution::ThreadIndex, std::size_t> executor_of;
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    for (const execution::ThreadIndex thread : executors_[i].threads) {
      executor_of.emplace(thread, i);
    }
  }
  sort_by_start();
  // How deep a run is nested: below those of its thread that are not over when it starts.
  std::map<execution::ThreadIndex, std::vector<Instant>> busy_until;
  using Key = std::tuple<std::size_t, execution::ThreadIndex, int>;
  // Numbers of keys in the order they were met, until all are known and sorted.
  std::map<Key, std::uint32_t> met;
  track_of_.resize(runs.size());
  for (const std::uint32_t run : by_start_) {
    const Run& instance = runs[run];
    std::vector<Instant>& levels = busy_until[instance.thread];
    const auto free =
        std::ranges::find_if(levels, [&](Instant until) { return until <= instance.start; });
    const auto depth = static_cast<int>(free - levels.begin());
    if (free == levels.end()) {
      levels.push_back(instance.end);
    } else {
      *free = instance.end;
    }
    const auto executor = executor_of.find(instance.thread);
    const Key key{executor == executor_of.end() ? executors_.size() : executor->second,
                  instance.thread, depth};
    track_of_[run] = met.try_emplace(key, static_cast<std::uint32_t>(met.size())).first->second;
  }
  std::vector<std::uint32_t> track_numbers(met.size());
  for (const auto& [key, position] : met) {
    track_numbers[position] = static_cast<std::uint32_t>(tracks_.size());
    tracks_.push_back({std::get<1>(key), std::get<0>(key), std::get<2>(key)});
  }
  std::vector<std::uint64_t> next(tracks_.size() + 1);
  for (std::uint32_t& track : track_of_) {
    track = track_numbers[track];
    ++next[track + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  for (std::size_t track = 0; track < tracks_.size(); ++track) {
    if (tracks_[track].depth == 0) {
      spans_of_[tracks_[track].thread.value()] = {next[track], next[track + 1]};
    }
  }
  order_.resize(runs.size());
  span_of_.resize(runs.size());
  for (const std::uint32_t run : by_start_) {
    const std::uint64_t span = next[track_of_[run]]++;
    order_[span] = run;
    span_of_[run] = static_cast<std::uint32_t>(span);
  }
}

void Timeline::add_spans() {
  for (const std::uint32_t run : order_) {
    const Run& instance = recording_.runs()[run];
    work_.step();
    const auto span = number(spans_.rows());
    spans_.add({track_of_[run], (instance.start - begin_).count(),
                (instance.end - instance.start).count(), number(instance.callback.value())});
    for (const flow::Off& off : scheduling_.off(instance.thread, instance.start, instance.end)) {
      segments_.add({span, static_cast<std::int64_t>(off.why), (off.begin - instance.start).count(),
                     (off.end - off.begin).count(), actor_number(off.actor)});
    }
  }
  for (const Scheduling::Occupation& occupation : scheduling_.occupations()) {
    work_.step();
    // Occupations before the first event of ROS 2 are not shown.
    const Instant start = std::max(occupation.start, begin_);
    if (start < occupation.end) {
      spans_.add({number(tracks_.size()) + occupation.processor, (start - begin_).count(),
                  (occupation.end - start).count(), occupation.actor});
    }
  }
}

Array<std::uint32_t> Timeline::by_time() const {
  const auto& sent = recording_.sent();
  Array<std::uint32_t> order(storage_);
  for (std::size_t id = 0; id < sent.size(); ++id) {
    if (sent[id].is_known) {
      order.push_back(static_cast<std::uint32_t>(id));
    }
  }
  const auto key = [&](std::uint32_t id) { return std::pair(sent[id].time, id); };
  if (!std::ranges::is_sorted(order, {}, key)) {
    std::ranges::sort(order, {}, key);
  }
  return order;
}

/// A row for each run that handled a message, and for each subscription that did not get it, or got
/// it without a callback that followed.
void Timeline::add_messages(const execution::Database& database) {
  const execution::Objects& objects = database.objects();
  const auto& runs = recording_.runs();
  const auto& sent = recording_.sent();
  const auto& takes = recording_.takes();
  const auto known = [&](PublicationId id) {
    return recording_.find(id) == nullptr ? Groups::none : static_cast<std::size_t>(id);
  };
  const Groups handled(storage_, sent.size(), runs.size(),
                       [&](std::size_t run) { return known(runs[run].source); });
  const Groups taken(storage_, sent.size(), takes.size(),
                     [&](std::size_t take) { return known(takes[take].source); });
  std::vector<Instant> last_sent_and_taken(objects.topics.size(), Instant::min());
  for (const std::uint32_t run : handled.all()) {
    const Sent& message = *recording_.find(runs[run].source);
    Instant& last = last_sent_and_taken[message.topic.value()];
    last = std::max(last, message.time);
  }
  std::vector<std::vector<execution::SubscriptionIndex>> readers(objects.topics.size());
  for (std::size_t i = 0; i < objects.subscriptions.size(); ++i) {
    const execution::SubscriptionIndex index(i);
    if (objects[objects[index].callback].subscription == index) {
      readers[objects[index].topic.value()].push_back(index);
    }
  }
  const std::vector<Instant> until = known_until(objects, recording_);

  std::vector<PublicationId> newest_handled(objects.callbacks.size(), PublicationId::none);
  for (const Run& run : runs) {
    PublicationId& newest = newest_handled[run.callback.value()];
    newest = std::max(newest, run.source);
  }

  message_to_.resize(runs.size(), -1);
  std::vector<ObservedCallbackIndex> handlers;  // of one message, sorted
  std::map<ObservedCallbackIndex, Instant> takers;
  for (const std::uint32_t id : by_time()) {
    work_.step();
    const Sent& message = sent[id];
    const auto run = recording_.find(message.instance);
    const auto source = run ? static_cast<std::int32_t>(*run) : -1;
    handlers.clear();
    for (const std::uint32_t target : handled[id]) {
      handlers.push_back(runs[target].callback);
      add_message({message, source, runs[target].taken, static_cast<std::int32_t>(target),
                   Row::Fate::taken});
    }
    if (!message.to_all) {
      continue;
    }
    std::ranges::sort(handlers);
    takers.clear();
    for (const std::uint32_t position : taken[id]) {
      takers.try_emplace(takes[position].callback, takes[position].time);
    }
    for (const execution::SubscriptionIndex index : readers[message.topic.value()]) {
      const execution::Subscription* const reader = &objects[index];
      if (reader->since > message.time || std::ranges::binary_search(handlers, reader->callback)) {
        continue;
      }
      if (const auto take = takers.find(reader->callback); take != takers.end()) {
        add_message({message, source, take->second, -1, Row::Fate::unprocessed});
        continue;
      }
      // A message that nobody had taken when the recording ended may have been on its way, and one
      // after the last that is known to be handled may have been handled by a run that was left
      // out.
      const bool beyond = message.time > last_sent_and_taken[message.topic.value()] ||
                          (recording_.misses_some_of(reader->callback) &&
                           PublicationId(id) > newest_handled[reader->callback.value()]);
      if (beyond || message.time <= until[index.value()]) {
        add_message(
            {message, source, std::nullopt, -1, beyond ? Row::Fate::beyond : Row::Fate::lost});
      }
    }
  }
}

void Timeline::add_message(const Row& row) {
  const auto span = [&](std::int32_t run) {
    return run < 0 ? std::int64_t{-1} : span_of(static_cast<std::size_t>(run));
  };
  if (row.target >= 0) {
    message_to_[static_cast<std::size_t>(row.target)] = static_cast<std::int32_t>(messages_.size());
  }
  messages_.push_back({row.source, row.target, row.sent.topic});
  message_table_.add({number(row.sent.topic.value()), span(row.source),
                      (row.sent.time - begin_).count(),
                      row.taken ? (*row.taken - begin_).count() : -1, span(row.target),
                      static_cast<std::int64_t>(row.fate)});
}

std::span<const std::uint32_t> Timeline::ending_after(execution::ThreadIndex thread,
                                                      Instant time) const {
  const auto& runs = recording_.runs();
  const auto& [first, last] = spans_of_[thread.value()];
  // The spans of a track do not overlap, so they are in the order of their ends, too.
  const auto spans = order_.part(first, last - first);
  const auto begin =
      std::ranges::upper_bound(spans, time, {}, [&](std::uint32_t run) { return runs[run].end; });
  return {begin, spans.end()};
}

}  // namespace takt::viewer
