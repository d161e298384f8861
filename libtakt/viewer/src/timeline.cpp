#include "timeline.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace takt::viewer {
namespace {

using execution::CallbackInstance;
using execution::InstanceId;
using execution::PublicationId;

/// Positions in the viewer's list of fates.
enum class Fate : std::int64_t { taken, lost, unprocessed, beyond };

/// That a subscription got a message: with the run that handled it, or without one.
struct Receipt {
  PublicationId source = PublicationId::none;
  execution::ObservedCallbackIndex callback;
  bool was_handled = false;
  Instant time;

  [[nodiscard]] auto key() const {
    return std::tuple(source, callback.value(), !was_handled, time);
  }
};

std::int64_t number(std::size_t position) { return static_cast<std::int64_t>(position); }

}  // namespace

/// A row of the table of messages, with positions in Recording::runs().
struct Timeline::Row {
  Instant sent;
  std::int64_t source = -1;
  std::optional<Instant> taken;
  std::int64_t target = -1;
  execution::TopicIndex topic;
  Fate fate{};
  std::size_t number = 0;
};

Timeline::Timeline(const execution::Database& database, const Recording& recording,
                   const Scheduling& scheduling, Instant begin, const Storage& storage)
    : recording_(recording),
      scheduling_(scheduling),
      storage_(storage),
      begin_(begin),
      executors_(recording.executors().executors(database.objects(), database.threads())),
      by_start_(storage.memory()),
      order_(storage.memory()),
      track_of_(storage.memory()),
      span_of_(storage.memory()),
      message_to_(storage.memory()),
      messages_(storage.memory()),
      sent_offset_(storage.memory()),
      sent_(storage.memory()),
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
  index_messages();
}

void Timeline::place_runs() {
  const auto& runs = recording_.runs();
  std::map<execution::ThreadIndex, std::size_t> executor_of;
  for (std::size_t i = 0; i < executors_.size(); ++i) {
    for (const execution::ThreadIndex thread : executors_[i].threads) {
      executor_of.emplace(thread, i);
    }
  }
  by_start_.resize(runs.size());
  std::iota(by_start_.begin(), by_start_.end(), std::uint32_t{0});
  std::ranges::sort(by_start_, {},
                    [&](std::uint32_t run) { return std::pair(runs[run].instance.start, run); });

  // How deep a run is nested: below those of its thread that are not over when it starts.
  std::map<execution::ThreadIndex, std::vector<Instant>> busy_until;
  using Key = std::tuple<std::size_t, execution::ThreadIndex, int>;
  // Numbers of keys in the order they were met, until all are known and sorted.
  std::map<Key, std::uint32_t> met;
  track_of_.resize(runs.size());
  for (const std::uint32_t run : by_start_) {
    const CallbackInstance& instance = runs[run].instance;
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
  order_.resize(runs.size());
  span_of_.resize(runs.size());
  for (const std::uint32_t run : by_start_) {
    const std::uint64_t span = next[track_of_[run]]++;
    order_[span] = run;
    span_of_[run] = number(span);
  }
}

void Timeline::add_spans() {
  for (const std::uint32_t run : order_) {
    const CallbackInstance& instance = recording_.runs()[run].instance;
    const auto span = number(spans_.rows());
    spans_.add({track_of_[run], (instance.start - begin_).count(),
                (instance.end - instance.start).count(), number(instance.callback.value())});
    for (const Scheduling::Segment& segment :
         scheduling_.segments(instance.thread, instance.start, instance.end)) {
      segments_.add({span, static_cast<std::int64_t>(segment.state),
                     (segment.start - instance.start).count(),
                     (segment.end - segment.start).count(), segment.actor});
    }
  }
  for (const Scheduling::Occupation& occupation : scheduling_.occupations()) {
    // What was recorded before the first event of ROS 2 is not shown.
    const Instant start = std::max(occupation.start, begin_);
    if (start < occupation.end) {
      spans_.add({number(tracks_.size()) + occupation.processor, (start - begin_).count(),
                  (occupation.end - start).count(), occupation.actor});
    }
  }
}

void Timeline::add_messages(const execution::Database& database) {
  const auto& runs = recording_.runs();
  const auto position = [&](InstanceId instance) {
    const auto run = recording_.find(instance);
    return run ? number(*run) : std::int64_t{-1};
  };
  std::pmr::vector<Row> rows(storage_.memory());
  storage_.prepare(rows, 4 * storage_.runs());
  for (const std::uint32_t run : order_) {
    const CallbackInstance& instance = runs[run].instance;
    if (const Sent* const sent = recording_.find(instance.source)) {
      rows.push_back({sent->time, position(sent->instance), instance.taken.value_or(instance.start),
                      number(run), sent->topic, Fate::taken, rows.size()});
    }
  }
  add_unhandled(database, rows);
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(row.sent, row.number); });

  message_to_.assign(runs.size(), -1);
  storage_.prepare(messages_, rows.size());
  const auto span = [&](std::int64_t run) {
    return run < 0 ? run : span_of_[static_cast<std::size_t>(run)];
  };
  for (const Row& row : rows) {
    if (row.target >= 0) {
      message_to_[static_cast<std::size_t>(row.target)] = number(messages_.size());
    }
    messages_.push_back({row.source, row.target, row.topic, row.sent});
    message_table_.add({number(row.topic.value()), span(row.source), (row.sent - begin_).count(),
                        row.taken ? (*row.taken - begin_).count() : -1, span(row.target),
                        static_cast<std::int64_t>(row.fate)});
  }
}

/// Rows for what subscriptions did not get, or got without a callback that followed.
void Timeline::add_unhandled(const execution::Database& database, std::pmr::vector<Row>& rows) {
  const execution::Objects& objects = database.objects();
  std::map<execution::TopicIndex, Instant> last_sent_and_taken;
  std::pmr::vector<Receipt> receipts(storage_.memory());
  storage_.prepare(receipts, 2 * storage_.runs());
  for (const Row& row : rows) {
    Instant& last = last_sent_and_taken[row.topic];
    last = std::max(last, row.sent);
    const auto& run = recording_.runs()[static_cast<std::size_t>(row.target)].instance;
    receipts.push_back({run.source, run.callback, true, row.sent});
  }
  for (const execution::Take& take : recording_.takes()) {
    receipts.push_back({take.source, objects[take.subscription].callback, false, take.time});
  }
  std::ranges::sort(receipts, {}, &Receipt::key);
  std::map<execution::TopicIndex, std::vector<const execution::Subscription*>> readers;
  for (const execution::Subscription& subscription : objects.subscriptions) {
    const auto& callback = objects[subscription.callback];
    if (callback.subscription && &objects[*callback.subscription] == &subscription) {
      readers[subscription.topic].push_back(&subscription);
    }
  }
  const auto& all = recording_.sent();
  for (std::size_t id = 0; id < all.size(); ++id) {
    if (!all[id] || !all[id]->to_all) {
      continue;
    }
    const Sent& sent = *all[id];
    for (const execution::Subscription* const reader : readers[sent.topic]) {
      const Receipt wanted{PublicationId(id), reader->callback, true, Instant::min()};
      const auto receipt = std::ranges::lower_bound(receipts, wanted.key(), {}, &Receipt::key);
      const bool got = receipt != receipts.end() && receipt->source == wanted.source &&
                       receipt->callback == wanted.callback;
      if (reader->since > sent.time || (got && receipt->was_handled)) {
        continue;
      }
      // What nobody had taken when the recording ended may have been on its way.
      const bool beyond = sent.time > last_sent_and_taken[sent.topic];
      const auto run = recording_.find(sent.instance);
      rows.push_back({sent.time, run ? number(*run) : -1,
                      got ? std::optional(receipt->time) : std::nullopt, -1, sent.topic,
                      got      ? Fate::unprocessed
                      : beyond ? Fate::beyond
                               : Fate::lost,
                      rows.size()});
    }
  }
}

void Timeline::index_messages() {
  sent_offset_.assign(recording_.runs().size() + 1, 0);
  for (const Message& message : messages_) {
    if (message.source >= 0) {
      ++sent_offset_[static_cast<std::size_t>(message.source) + 1];
    }
  }
  std::partial_sum(sent_offset_.begin(), sent_offset_.end(), sent_offset_.begin());
  sent_.resize(sent_offset_.back());
  std::pmr::vector<std::uint64_t> next(sent_offset_.begin(), sent_offset_.end() - 1,
                                       storage_.memory());
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].source >= 0) {
      sent_[next[static_cast<std::size_t>(messages_[i].source)]++] = number(i);
    }
  }
}

std::span<const std::int64_t> Timeline::messages_from(std::size_t run) const {
  return std::span(sent_).subspan(sent_offset_[run], sent_offset_[run + 1] - sent_offset_[run]);
}

std::vector<std::size_t> Timeline::runs_between(std::size_t run, Instant from, Instant to) const {
  const auto& runs = recording_.runs();
  std::vector<std::size_t> found;
  // Backwards from the run itself: what was there before it is near.
  for (auto span = span_of_[run] - 1; span >= 0; --span) {
    const std::size_t other = order_[static_cast<std::size_t>(span)];
    const CallbackInstance& instance = runs[other].instance;
    if (track_of_[other] != track_of_[run] || instance.end <= from) {
      break;
    }
    if (instance.start < to) {
      found.push_back(other);
    }
  }
  std::ranges::reverse(found);
  return found;
}

}  // namespace takt::viewer
