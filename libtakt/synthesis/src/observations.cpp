#include "takt/synthesis/observations.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"

namespace takt::synthesis {
namespace {

using execution::CallbackInstance;
using execution::CallbackKind;
using execution::InstanceId;
using execution::Publication;

constexpr std::string_view parameter_events = "/parameter_events";

/// The service by which nodes with a life cycle are told to change their state.
constexpr std::string_view change_state = "/change_state";

/// What a node publishes on /parameter_events so shortly after an object was made belongs to
/// start-up.
constexpr Duration making_time = std::chrono::seconds(1);
/// So many such messages are remembered. Each subscription keeps at most 1000 of them by default.
constexpr std::size_t most_of_start_up = 1 << 14;

/// A sender tells of a request or response right after it has sent it. One that has not done so in
/// this time, or within so many others, is not recorded.
constexpr Duration longest_telling = std::chrono::seconds(1);
constexpr std::size_t most_awaiting = 1024;

/// Whether the callback is periodic, so that its activations need not be counted.
bool is_periodic(const execution::Objects& objects, const execution::Callback& callback) {
  return callback.timer ||
         (callback.event_source && objects[*callback.event_source].period.count() > 0);
}

Instant activation_of(const execution::Callback& callback, const CallbackInstance& instance,
                      const Publication* publication) {
  // No event shows when a driver got its data. The end of the run shows as much of the times
  // between (ros-llama S-4.4.3).
  if (callback.event_source) return instance.end;
  if (const auto arrival = instance.late_arrival()) return *arrival;
  return publication != nullptr ? publication->sent : instance.taken.value_or(instance.start);
}

void add_recent(RecentObservation& recent, const CallbackInstance& instance, Instant activation) {
  if (recent.count++ == 0) recent.since = instance.start;
  recent.execution_time.add(instance.execution_time(), instance.start);
  recent.suspension.add(instance);
  recent.activations.add(activation);
}

/// It is known only at the end which executors have several threads.
void add_delays(LongestDelays& delays, const CallbackInstance& instance, Instant sent,
                Instant sender_end) {
  for (const bool alone : {false, true}) {
    auto& longest = alone ? delays.longest_visible_alone : delays.longest_visible;
    if (const auto visible = execution::visible_delay(instance, sent, sender_end, alone)) {
      longest.add(*visible, sent);
    }
    if (const auto travel = execution::visible_delay(instance, sent, sent, alone)) {
      (alone ? delays.longest_travel_alone : delays.longest_travel).add(*travel, sent);
    }
  }
}

}  // namespace

void Observations::add(const execution::Database& database, const Publication& publication) {
  const execution::Objects& objects = database.objects();
  if (observing_.phases && publication.publisher) {
    if (const auto node = objects[*publication.publisher].node) {
      if (has_changed(database, publication.thread)) {
        begin_phase(objects, *node, publication.sent, "thread");
      }
      if (objects[publication.topic] == parameter_events) {
        begin_phase(objects, *node, publication.sent, "parameters");
      }
    }
  }
  if (objects[publication.topic] == parameter_events && objects.initialised &&
      publication.sent - *objects.initialised < making_time) {
    of_start_up_.insert(publication.id);
    if (of_start_up_.size() > most_of_start_up) of_start_up_.erase(of_start_up_.begin());
  }
  links_.on_publication(database, publication);
  if (publication.instance == InstanceId::none || publication.repeats_intra_process) {
    return;
  }
  OutputObservation& output = outputs_[{publication.callback, publication.topic}];
  ++output.count;
  const Publication* const cause = database.publication(publication.cause);
  if (cause != nullptr && cause->instance != InstanceId::none) {
    ++output.by_cause[cause->callback];
  }
  Sent& sent = grow_to(sent_, publication.thread);
  if (sent.instance != publication.instance) {
    sent.instance = publication.instance;
    sent.topics.clear();
  }
  output.most_per_instance = std::max(output.most_per_instance, ++sent.topics[publication.topic]);
  const std::uint64_t ended = grow_to(callbacks_, publication.callback).count;
  if (output.sent_after && ended > *output.sent_after) {
    const std::uint64_t between = ended - *output.sent_after;
    output.fewest_between = std::min(output.fewest_between.value_or(between), between);
    output.most_between = std::max(output.most_between, between);
  }
  output.sent_after = ended;
}

void Observations::add_source(const execution::Database& database, InstanceId instance,
                              execution::PublicationId source) {
  const auto found = std::ranges::find(awaiting_, instance, &CallbackInstance::id);
  const Publication* const publication = database.publication(source);
  if (found != awaiting_.end() && publication != nullptr) {
    add_message(database, *found, *publication);
    awaiting_.erase(found);
  }
}

void Observations::settle(const execution::Objects& objects) {
  for (const CallbackInstance& instance : awaiting_) {
    add_from_outside(objects, instance, nullptr);
  }
  awaiting_.clear();
}

void Observations::add_from_outside(const execution::Objects& objects,
                                    const CallbackInstance& instance,
                                    const Publication* publication) {
  CallbackObservation& callback = grow_to(callbacks_, instance.callback);
  ++callback.activated_from_outside;
  const Instant activation = activation_of(objects[instance.callback], instance, publication);
  callback.activations_from_outside.add(activation);
  if (!observing_.forgets) return;
  ++callback.recent.activated_from_outside;
  callback.recent.activations_from_outside.add(activation);
}

void Observations::add_message(const execution::Database& database,
                               const CallbackInstance& instance, const Publication& publication) {
  if (publication.instance == InstanceId::none) {
    add_from_outside(database.objects(), instance, &publication);
    return;
  }
  ++grow_to(callbacks_, instance.callback).activated_by[publication.callback];
  EdgeObservation& edge = edges_[{publication.callback, instance.callback, publication.topic}];
  ++edge.count;
  if (instance.by_memory) edge.came_by_memory();
  // A request may be taken before its sender tells of it.
  edge.shortest = std::min(
      edge.shortest,
      std::max(*instance.taken - instance.late_arrival().value_or(publication.sent), Duration{0}));
  if (publication.kind == Publication::Kind::response) {
    const Publication* const request = database.publication(publication.cause);
    if (request != nullptr && request->instance != InstanceId::none) {
      ++edge.by_caller[request->callback];
    }
  }
  if (observing_.prompt != nullptr &&
      !observing_.prompt->covers(instance.thread, publication.sent)) {
    return;
  }
  const Instant sender_end = ends_.end_of(publication.callback, publication.instance);
  add_delays(edge, instance, publication.sent, sender_end);
  if (!observing_.forgets) return;
  add_delays(edge.recent, instance, publication.sent, sender_end);
  ++edge.recent_count;
}

void Observations::add(const execution::Database& database, const execution::Read& read) {
  links_.on_read(database, read);
  const Publication* const publication = database.publication(read.source);
  const execution::Callback& reader = database.objects()[read.reader_callback];
  const bool samples = reader.timer || reader.event_source;
  if (!samples || publication == nullptr || publication->instance == InstanceId::none) {
    return;
  }
  EdgeObservation& edge = edges_[{publication->callback, read.reader_callback, publication->topic}];
  ++edge.count;
  if (read.by_memory) edge.came_by_memory();
  edge.shortest = std::min(edge.shortest, std::max(read.time - publication->sent, Duration{0}));
  if (std::exchange(edge.takes.newest, read.reader) == read.reader) return;
  ++edge.takes.runs;
  const auto subscription = database.objects()[read.callback].subscription;
  edge.takes.queue_depth = subscription ? database.objects()[*subscription].queue_depth : 0;
  if (!read.left_at) return;
  // What the thread itself sends needs no time to arrive, other messages at least the shortest.
  const Duration way = publication->thread == read.thread ? Duration{0} : edge.shortest;
  const Instant sender_end = ends_.end_of(publication->callback, publication->instance);
  const Duration waited = *read.left_at - way - std::max(publication->sent, sender_end);
  if (waited <= Duration{0}) return;
  ++edge.takes.left;
  edge.takes.longest = std::max(edge.takes.longest, waited);
}

void Observations::add(const execution::Database& database, const CallbackInstance& instance) {
  const execution::Objects& objects = database.objects();
  const execution::Callback& owner = objects[instance.callback];
  const auto node = objects.node_of(owner);
  if (of_start_up_.contains(instance.source)) {
    ran_before_.insert(instance.callback);
    return;
  }
  if (observing_.phases && node && has_changed(database, instance.thread)) {
    begin_phase(objects, *node, instance.start, "thread");
  }
  executors_.on_instance(database, instance);
  orders_.add(objects, instance);
  ends_.add(instance);
  CallbackObservation& callback = grow_to(callbacks_, instance.callback);
  ++callback.count;
  callback.shortest = std::min(callback.shortest, instance.execution_time());
  callback.total = bounded(callback.total + instance.execution_time());
  callback.execution_time.add(instance.execution_time(), instance.start);
  if (observing_.aging) {
    if (!callback.aged) callback.aged.emplace(*observing_.aging);
    callback.aged->add(instance.execution_time());
  }
  callback.suspension.add(instance);
  const Publication* const publication = database.publication(instance.source);
  const Instant activation = activation_of(owner, instance, publication);
  callback.activations.add(activation);
  if (observing_.forgets) add_recent(callback.recent, instance, activation);
  if (instance.overhead) {
    Overhead& overhead = grow_to(overheads_, instance.thread);
    overhead.alone.add(*instance.overhead, instance.start);
    Duration& shortest = overhead.shortest_before_turn;
    shortest = std::min(shortest, instance.before_turn.value_or(shortest));
    const Duration waited = instance.before_turn.value_or(shortest) - shortest;
    overhead.in_turn.add(*instance.overhead - waited, instance.start);
    if (observing_.forgets) {
      overhead.recent_alone.add(*instance.overhead, instance.start);
      overhead.recent_in_turn.add(*instance.overhead - waited, instance.start);
      ++overhead.recent;
    }
  }
  if (owner.timer && !owner.triggers) {
    if (!callback.grid) callback.grid.emplace(objects[*owner.timer].period);
    static_cast<void>(callback.grid->add(instance));
  }
  const bool is_call = owner.kind == CallbackKind::service || owner.kind == CallbackKind::client;
  while (!awaiting_.empty() && (awaiting_.size() == most_awaiting ||
                                awaiting_.front().end + longest_telling < instance.end)) {
    add_from_outside(objects, awaiting_.front(), nullptr);
    awaiting_.pop_front();
  }
  if (is_call && publication == nullptr && instance.taken) {
    awaiting_.push_back(instance);
  } else if (publication != nullptr || !is_periodic(objects, owner)) {
    if (publication != nullptr) {
      add_message(database, instance, *publication);
    } else {
      add_from_outside(objects, instance, nullptr);
    }
  }

  links_.on_instance(database, instance);
  if (node) {
    overlaps_.add(*node, instance);
  }
  if (owner.kind == CallbackKind::subscription) {
    declared_sets_.add(objects, instance);
  }
  if (observing_.phases && owner.kind == CallbackKind::service && node &&
      objects[*objects.topic_of(owner)].ends_with(change_state)) {
    begin_phase(objects, *node, instance.end, "lifecycle");
  }
}

bool Observations::has_changed(const execution::Database& database, execution::ThreadIndex thread) {
  const std::uint64_t changes = value_at(database.thread_histories(), thread).changes();
  const std::uint64_t before = std::exchange(grow_to(thread_changes_, thread), changes);
  return changes != before && before != 0;
}

void Observations::begin_phase(const execution::Objects& objects, execution::NodeIndex node,
                               Instant time, std::string_view shown_by) {
  const auto is_concerned = [&](ObservedCallbackIndex callback) {
    return objects.node_of(objects[callback]) == node;
  };
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].count != 0 && is_concerned(ObservedCallbackIndex(i))) {
      ran_before_.insert(ObservedCallbackIndex(i));
      callbacks_[i] = {};
    }
  }
  std::erase_if(edges_, [&](const auto& edge) { return is_concerned(std::get<0>(edge.first)); });
  std::erase_if(outputs_, [&](const auto& output) { return is_concerned(output.first.first); });
  std::erase_if(awaiting_, [&](const auto& instance) { return is_concerned(instance.callback); });
  links_.begin_phase(objects, node);
  declared_sets_.restart(is_concerned);
  Phases& phases = phases_[node];
  ++phases.changes;
  phases.since = time;
  phases.shown_by = shown_by;
}

bool Observations::has_edge(ObservedCallbackIndex from, ObservedCallbackIndex to) const {
  const auto first = edges_.lower_bound({from, to, TopicIndex(0)});
  return first != edges_.end() && std::get<0>(first->first) == from &&
         std::get<1>(first->first) == to;
}

void Observations::forget() {
  for (CallbackObservation& callback : callbacks_) {
    if (callback.recent.count < enough_to_forget) continue;
    RecentObservation recent = std::exchange(callback.recent, {});
    callback.execution_time = std::move(recent.execution_time);
    callback.suspension = std::move(recent.suspension);
    callback.activations = std::move(recent.activations);
    if (recent.activated_from_outside >= enough_to_forget) {
      callback.activations_from_outside = std::move(recent.activations_from_outside);
    }
    callback.since = recent.since;
  }
  for (auto& [key, edge] : edges_) {
    if (edge.recent_count < enough_to_forget) continue;
    static_cast<LongestDelays&>(edge) = std::exchange(edge.recent, {});
    edge.recent_count = 0;
  }
  for (Overhead& overhead : overheads_) {
    if (overhead.recent < enough_to_forget) continue;
    overhead.alone = std::exchange(overhead.recent_alone, {});
    overhead.in_turn = std::exchange(overhead.recent_in_turn, {});
    overhead.recent = 0;
  }
}

void Observations::restart(Instant time) {
  for (std::size_t i = 0; i < callbacks_.size(); ++i) {
    if (callbacks_[i].count != 0) {
      ran_before_.insert(ObservedCallbackIndex(i));
    }
  }
  callbacks_.clear();
  phases_.clear();
  edges_.clear();
  outputs_.clear();
  links_.restart();
  declared_sets_.restart([](ObservedCallbackIndex) { return true; });
  overheads_.clear();
  awaiting_.clear();
  executors_.restart();
  orders_ = {};
  steady_since_ = time;
}

}  // namespace takt::synthesis
