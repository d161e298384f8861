#include "takt/flow/measurement.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "takt/base/grow.hpp"
#include "takt/execution/names.hpp"
#include "takt/model/order.hpp"
#include "takt/model/topics.hpp"

namespace takt::flow {
namespace {

using execution::CallbackInstance;
using execution::Database;
using execution::InstanceId;
using execution::Publication;
using execution::PublicationId;

/// The timeline shows this much of the run, from the end of start-up.
constexpr Duration timeline_length = std::chrono::milliseconds(300);
constexpr std::size_t max_timeline = 5000;

/// A chain's end is followed back this many instances later. By then its beginnings have ended, and
/// publications of hosts whose clocks are behind have been seen.
constexpr std::size_t follow_delay = InstanceWindow::capacity / 2;

/// So many takes at a time wait for their publications (execution::TakeTracker).
constexpr std::size_t most_awaiting = std::size_t{1} << 16;

/// While an instance of a timer runs, so many instances of a callback that it samples may end.
constexpr std::size_t overlapping_samples = 16;

/// A thread that was behind its messages so many times in a row may have left some out.
constexpr std::size_t longest_delay = 3;

/// So many messages wait for a thread, and so many of its instances for their message.
constexpr std::size_t most_handed = 1000;

/// Whether the callback is a thread that is known only from what it publishes.
bool takes_handed(const execution::Objects& objects, const execution::Callback& callback) {
  return callback.event_source && callback.handle == 0 &&
         objects[*callback.event_source].period == Duration{0};
}

/// Where chains are followed as they end, an instance of a chain is taken to be shorter than this.
constexpr Duration longest_instance = std::chrono::minutes(1);

/// So many inputs of a chain wait for an output; later ones are left out.
constexpr std::size_t most_inputs = std::size_t{1} << 16;

/// The most chains that begin with one callback.
std::size_t most_chains_from_one(const model::Model& model) {
  std::vector<std::size_t> counts(model.callbacks.size() + 1);
  for (const model::Chain& chain : model.chains) {
    ++counts[chain.callbacks.front().value()];
  }
  return *std::ranges::max_element(counts);
}

}  // namespace

Measurer::Measurer(const model::Model& model, ChainListener on_chain, Keep keep,
                   UnfollowedListener on_unfollowed)
    : model_(model),
      on_chain_(std::move(on_chain)),
      on_unfollowed_(std::move(on_unfollowed)),
      has_statistics_(keep == Keep::statistics),
      matcher_(model),
      callbacks_(model.callbacks.size()),
      places_(model::window_places(model)),
      window_(most_chains_from_one(model)),
      sent_together_(model.edges.size()),
      inputs_(model.chains.size()),
      input_topics_(model.chains.size()) {
  measured_.callbacks.resize(model.callbacks.size());
  measured_.chains.resize(model.chains.size());
  measured_.edges.resize(model.edges.size());
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    const model::Edge& edge = model.edges[i];
    CallbackState& receiver = callbacks_[edge.to.value()];
    const bool is_new = receiver.edge_from.emplace(edge.from, i).second;
    if (is_new && !model::activates(model, edge)) {
      receiver.samples.push_back({edge.from, InstanceId::none});
      callbacks_[edge.from.value()].is_sampled = true;
      if (model[edge.to].kind != model::CallbackKind::timer && !edge.topic) {
        passes_on_ = passes_on_ || !model::samples_messages(model[edge.to]);
        receiver.handed[edge.confidence ? std::nullopt : std::optional(edge.from)];
        callbacks_[edge.from.value()].hands_to.push_back(edge.to);
      }
    }
  }
  for (const model::Join& join : model.joins) {
    CallbackState& state = callbacks_[join.callback.value()];
    state.join.emplace(join.kind, join.inputs.size());
    state.publishes_sets = join.confidence.has_value();
    for (std::size_t i = 0; i < join.inputs.size(); ++i) {
      state.input_of_sender[join.inputs[i]] = i;
      state.input_of_topic[model::topic_name(model,
                                             model.edges[state.edge_from.at(join.inputs[i])])] = i;
    }
  }
  for (std::size_t i = 0; i < model.chains.size(); ++i) {
    const model::Chain& chain = model.chains[i];
    callbacks_[chain.callbacks.front().value()].first_in.push_back(i);
    callbacks_[chain.callbacks.back().value()].last_in.push_back(i);
    if (chain.end_topic) noted_topics_.insert(*chain.end_topic);
    if (chain.kind != model::GoalKind::reaction || chain.callbacks.size() == 1) continue;
    const auto& senders = callbacks_[chain.callbacks[1].value()].edge_from;
    if (const auto edge = senders.find(chain.callbacks[0]);
        edge != senders.end() && model.edges[edge->second].topic) {
      input_topics_[i] = model::topic_name(model, model.edges[edge->second]);
      noted_topics_.insert(*input_topics_[i]);
    }
  }
}

std::optional<model::CallbackIndex> Measurer::sender_of(const Database& database,
                                                        const Publication* publication) {
  if (publication == nullptr || publication->instance == InstanceId::none) {
    return std::nullopt;
  }
  const auto match = matcher_.match(database.objects(), publication->callback);
  return match ? std::optional(match->callback) : std::nullopt;
}

bool Measurer::completes_join(CallbackState& state, const CallbackInstance& instance,
                              const std::string& topic,
                              std::optional<model::CallbackIndex> sender) const {
  state.on_arrival.note(instance);
  if (state.on_arrival.holds()) return instance.was_chosen;
  if (state.publishes_sets) {
    const std::size_t thread = instance.thread.value();
    return thread < sending_.size() && sending_[thread] == instance.id;
  }
  const auto arrive = [&](std::size_t input) {
    state.join->arrive(input);
    if (!state.join->is_complete()) return false;
    state.join->use();
    return true;
  };
  if (sender) {
    if (const auto input = state.input_of_sender.find(*sender);
        input != state.input_of_sender.end()) {
      return arrive(input->second);
    }
  }
  const auto input = state.input_of_topic.find(topic);
  return input != state.input_of_topic.end() && arrive(input->second);
}

void Measurer::on_publication(const Database& database, const Publication& publication) {
  if (execution::housekeeping_of(database.objects()[publication.topic]) ==
      execution::Housekeeping::none) {
    grow_to(sending_, publication.thread) = publication.instance;
    if (publication.kind == Publication::Kind::message) {
      grow_to(sending_messages_, publication.thread) = publication.instance;
    }
  }
  note_publication(database, publication);
  const auto sender = passes_on_ ? sender_of(database, &publication) : std::nullopt;
  if (sender && !callbacks_[sender->value()].handed.empty() && !publication.repeats_intra_process &&
      !execution::is_transform(database.objects()[publication.topic])) {
    passed_on_[publication.instance][publication.publisher].push_back(
        {publication.id, publication.stamp});
    if (passed_on_.size() > most_handed) passed_on_.erase(passed_on_.begin());
  }
}

void Measurer::note_publication(const Database& database, const Publication& publication) {
  const std::string& topic = database.objects()[publication.topic];
  if (publication.instance == InstanceId::none || publication.repeats_intra_process ||
      !noted_topics_.contains(topic)) {
    return;
  }
  published_[publication.instance].insert_or_assign(topic, publication.sent);
  published_.erase(published_.begin(), std::ranges::find_if(published_, [this](const auto& entry) {
                     return is_recent(entry.first);
                   }));
}

std::optional<Instant> Measurer::end_of(const InstanceRecord& last, std::size_t chain) const {
  const auto& topic = model_.chains[chain].end_topic;
  if (!topic) return last.end;
  const auto published = published_.find(last.id);
  if (published == published_.end()) return std::nullopt;
  const auto end = published->second.find(*topic);
  return end == published->second.end() ? std::nullopt : std::optional(end->second);
}

bool Measurer::has_published(InstanceId instance, const std::string& topic) const {
  const auto published = published_.find(instance);
  return published != published_.end() && published->second.contains(topic);
}

void Measurer::note_input(std::size_t chain, InstanceId instance) {
  if (const auto& topic = input_topics_[chain]; topic && !has_published(instance, *topic)) return;
  const model::Callback& first = model_[model_.chains[chain].callbacks.front()];
  Inputs& inputs = inputs_[chain];
  const InstanceId before = std::exchange(inputs.newest_reader, instance);
  const InstanceId since = first.kind == model::CallbackKind::timer ? before : instance;
  if (since == InstanceId::none) return;
  if (inputs.waiting.size() == most_inputs) {
    ++measured_.beyond_window;
    return;
  }
  inputs.waiting.push_back({.reader = instance, .since = since});
}

void Measurer::on_read(const Database& database, const execution::Read& read) {
  const Publication* const publication = database.publication(read.source);
  const auto reader = matcher_.match(database.objects(), read.reader_callback);
  const auto sender = sender_of(database, publication);
  if (!reader || !sender) {
    return;
  }
  CallbackState& state = callbacks_[reader->callback.value()];
  const auto edge = state.edge_from.find(*sender);
  if (edge == state.edge_from.end() || !model::samples_messages(model_[reader->callback])) {
    return;
  }
  Measurement::Edge& measured = measured_.edges[edge->second];
  ++measured.count;
  state.taken.insert(*sender);
  if (const auto last = std::ranges::find(state.samples, *sender, &Sampled::from);
      last != state.samples.end()) {
    last->instance = publication->instance;
  }
  std::vector<Sampled>& reads = sampled_[read.reader];
  const auto of_same = std::ranges::find(reads, *sender, &Sampled::from);
  if (of_same == reads.end()) {
    reads.push_back({*sender, publication->instance});
    ++measured.takes;
    // A sender without a record is taken to run still. How long a link takes is not known here.
    const model::Edge& along = model_.edges[edge->second];
    const InstanceRecord* const sent_by = window_.find(publication->instance);
    const bool was_left = sent_by != nullptr && !along.link && read.left_at &&
                          std::max(publication->sent, sent_by->end) + along.delay < *read.left_at;
    measured.left += was_left ? 1 : 0;
  } else {
    of_same->instance = publication->instance;
  }
}

void Measurer::on_instance(const Database& database, const CallbackInstance& instance) {
  if (newest_ == InstanceId::none) {
    first_ = instance.id;
  }
  newest_ = std::max(newest_, instance.id);
  const execution::Objects& objects = database.objects();
  const auto match = matcher_.match(objects, instance.callback);
  if (objects[instance.callback].kind != execution::CallbackKind::event_source) {
    check_window(instance, match ? std::optional(match->callback) : std::nullopt);
  }
  if (!match) {
    return;
  }
  grow_to(executors_, instance.thread) = model_[match->callback].executor;
  CallbackState& state = callbacks_[match->callback.value()];
  const Publication* const publication = database.publication(instance.source);
  const auto sender = sender_of(database, publication);
  Duration travel{};
  if (const auto edge = sender ? state.edge_from.find(*sender) : state.edge_from.end();
      edge != state.edge_from.end()) {
    assert(publication != nullptr);
    const model::Edge& along = model_.edges[edge->second];
    travel = along.travel.value_or(along.delay);
    const bool alone = model_[model_[match->callback].executor].threads == 1;
    measure_edge(database, edge->second, instance, *publication, alone);
  }
  if (publication == nullptr && instance.taken) {
    awaiting_source_.emplace(instance.id, match->callback);
    if (awaiting_source_.size() > most_awaiting) {
      awaiting_source_.erase(awaiting_source_.begin());
    }
  }
  if (state.join && !completes_join(state, instance, match->topic, sender)) {
    return;
  }

  InstanceRecord record;
  record.id = instance.id;
  record.callback = match->callback;
  record.end = instance.end;
  record.source = instance.source;
  if (instance.timer && publication == nullptr) {
    if (!state.grid) {
      state.grid.emplace(objects[*instance.timer].period);
    }
    record.activation = state.grid->add(instance);
    for (const auto& [id, due] : state.grid->amended()) {
      if (InstanceRecord* const before = window_.find(id)) before->activation = due;
    }
  } else if (const auto arrival = instance.late_arrival(); arrival && publication != nullptr) {
    record.activation = *arrival;
    record.cause = sender ? publication->instance : InstanceId::none;
    record.before_reader = *arrival - publication->sent;
  } else if (publication != nullptr) {
    record.activation =
        std::min(publication->sent + travel, instance.taken.value_or(instance.start));
    record.cause = sender ? publication->instance : InstanceId::none;
  } else {
    record.activation = instance.taken.value_or(instance.start);
  }
  if (is_recent(instance.id)) {
    link(state, instance, record, takes_handed(objects, objects[instance.callback]));
    hand_over(state, match->callback, instance, publication == nullptr ? 0 : publication->stamp);
  } else {
    ++measured_.beyond_window;
  }

  Measurement::Callback& measured = measured_.callbacks[match->callback.value()];
  ++measured.count;
  if (has_statistics_) {
    measured.execution_time.record(instance.execution_time());
    if (instance.suspended) {
      measured.suspended.record(instance.suspended->time);
      measured.most_suspensions = std::max(measured.most_suspensions, instance.suspended->times);
    }
    measured.response_time.record(instance.end - record.activation);
    const bool by_edge = sender && state.edge_from.contains(*sender);
    // It may yet turn out that an edge brought a message whose publication is not known.
    const bool may_be_by_edge = !state.edge_from.empty() && publication == nullptr;
    if (!by_edge && (!may_be_by_edge || state.grid)) {
      note_activation(objects, instance, record.activation, measured);
    }
  }
  for (const std::size_t chain : state.first_in) {
    ++measured_.chains[chain].begun;
    if (model_.chains[chain].kind == model::GoalKind::reaction) note_input(chain, instance.id);
  }
  while (!ends_.empty() &&
         static_cast<std::uint64_t>(newest_) - static_cast<std::uint64_t>(ends_.front()) >
             follow_delay) {
    follow(window_, inputs_, measured_, ends_.front());
    ends_.pop_front();
  }
  auto& timeline = measured_.timeline;
  if (timeline.empty() || (instance.start < timeline.front().start + timeline_length &&
                           timeline.size() < max_timeline)) {
    timeline.push_back({match->callback, record.activation, instance.start, instance.end});
  }
}

/// What a timer or a rate does next is due at the first point of its grid after the call before. So
/// the second of several calls was due after the first one began, and they span all but one period
/// from there on, however late they are.
void Measurer::note_activation(const execution::Objects& objects, const CallbackInstance& instance,
                               Instant activation, Measurement::Callback& measured) {
  const execution::Callback& observed = objects[instance.callback];
  const Duration period = observed.timer          ? objects[*observed.timer].period
                          : observed.event_source ? objects[*observed.event_source].period
                                                  : Duration{0};
  if (period > Duration{0}) {
    measured.unseen = std::max(measured.unseen, period);
    measured.activations.add(instance.chosen, instance.start);
  } else if (observed.event_source) {
    // No event shows when it got its data: the ends show as much of the times between.
    measured.activations.add(instance.end);
  } else {
    measured.activations.add(activation);
  }
}

/// Privileged timers are in no ready set. One may begin with a callback that the model lacks.
void Measurer::check_window(const CallbackInstance& instance,
                            std::optional<model::CallbackIndex> callback) {
  ThreadWindows& thread = grow_to(windows_, instance.thread);
  std::optional<WindowPlace> place;
  if (callback) {
    const model::ExecutorIndex index = model_[*callback].executor;
    const model::Executor& executor = model_[index];
    if (executor.kind == model::ExecutorKind::single_threaded) thread.executor = index;
    const bool privileged = executor.timers == TimerHandling::privileged &&
                            model_[*callback].kind == model::CallbackKind::timer;
    if (thread.executor == index && !privileged) place = places_[callback->value()];
  }
  thread.check.add(instance, place);
}

void Measurer::link(CallbackState& state, const CallbackInstance& instance,
                    const InstanceRecord& record, bool takes) {
  window_.put(record);
  if (!model::samples_messages(model_[record.callback])) {
    if (!state.handed.empty()) pass_on(state, instance);
  } else if (!state.samples.empty()) {
    sample(state, instance, takes);
  }
  if (state.is_sampled) {
    state.newest.push_back(instance.id);
    if (state.newest.size() > overlapping_samples) {
      state.newest.pop_front();
    }
  }
  if (!state.last_in.empty()) {
    ends_.push_back(instance.id);
  }
}

void Measurer::hand_over(const CallbackState& state, model::CallbackIndex callback,
                         const CallbackInstance& instance, std::int64_t stamp) {
  const bool published = value_at(sending_messages_, instance.thread) == instance.id;
  for (const model::CallbackIndex receiver : state.hands_to) {
    auto& queues = callbacks_[receiver.value()].handed;
    const auto own = queues.find(callback);
    Handed& queue = own == queues.end() ? queues.at(std::nullopt) : own->second;
    // A callback that is only inferred to hand messages over has kept the one that it published
    // for. Messages go on in order, so those that still waited for a transform go nowhere.
    if (own == queues.end() && published) {
      if (!model::samples_messages(model_[receiver])) queue.waiting.clear();
      continue;
    }
    const auto late = std::ranges::find_if(
        queue.early, [&](const auto& early) { return instance.start < early.second; });
    if (late != queue.early.end()) {
      std::vector<Sampled>& read = sampled_[late->first];
      std::erase_if(read, [&](const Sampled& sampled) { return sampled.from == callback; });
      read.push_back({callback, instance.id});
      queue.early.erase(queue.early.begin(), std::next(late));
      continue;
    }
    const auto place =
        std::ranges::upper_bound(queue.waiting, instance.start, {}, &Handed::Message::start);
    queue.waiting.insert(place, {instance.start, callback, instance.id, stamp});
    if (queue.waiting.size() > most_handed) queue.waiting.pop_front();
  }
}

void Measurer::pass_on(CallbackState& state, const CallbackInstance& instance) {
  const auto sent = passed_on_.extract(instance.id);
  if (!sent) return;
  std::vector<Sampled>& read = sampled_[instance.id];
  for (auto& [own, queue] : state.handed) {
    auto& waiting = queue.waiting;
    const auto there =
        std::ranges::lower_bound(waiting, instance.end, {}, &Handed::Message::start) -
        waiting.begin();
    if (there == 0) continue;
    std::ptrdiff_t used = 0;
    for (const auto& [publisher, messages] : sent.mapped()) {
      std::ptrdiff_t end = 0;
      for (const PassedOn& message : messages) {
        const auto same =
            std::ranges::find(waiting, message.stamp, &Handed::Message::stamp) - waiting.begin();
        const bool is_known = message.stamp != 0 && same < there;
        const std::ptrdiff_t taken = is_known ? same : std::min(end, there - 1);
        end = std::max(end, taken + 1);
        const Handed::Message& of = waiting[static_cast<std::size_t>(taken)];
        read.push_back({.from = of.from, .instance = of.instance, .as = message.id});
      }
      used = std::max(used, end);
    }
    waiting.erase(waiting.begin(), waiting.begin() + used);
  }
  std::ranges::sort(read, {}, &Sampled::instance);
}

/// The first message of a thread belongs to none of its instances.
void Measurer::take(CallbackState& state, const CallbackInstance& instance,
                    std::vector<Sampled>& read) {
  for (auto& [own, queue] : state.handed) {
    auto& waiting = queue.waiting;
    const auto until = [&](Instant time) {
      return std::ranges::lower_bound(waiting, time, {}, &Handed::Message::start);
    };
    if (!std::exchange(queue.has_begun, true)) {
      waiting.erase(waiting.begin(), until(instance.chosen));
    }
    const auto there = static_cast<std::size_t>(until(instance.end) - waiting.begin());
    if (there == 0) {
      queue.early.emplace_back(instance.id, instance.end);
      if (queue.early.size() > overlapping_samples) queue.early.pop_front();
      continue;
    }
    queue.early.clear();
    if (queue.delayed > longest_delay)
      waiting.erase(waiting.begin(), std::prev(until(instance.end)));
    queue.delayed = there > 1 ? queue.delayed + 1 : 0;
    read.push_back({waiting.front().from, waiting.front().instance});
    std::ranges::find(state.samples, waiting.front().from, &Sampled::from)->instance =
        waiting.front().instance;
    waiting.pop_front();
  }
}

void Measurer::sample(CallbackState& state, const CallbackInstance& instance, bool takes) {
  std::vector<Sampled>& read = sampled_[instance.id];
  if (takes) take(state, instance, read);
  for (Sampled& last : state.samples) {
    bool again = true;
    const bool is_handed = takes && !model_.edges[state.edge_from.at(last.from)].topic;
    if (is_handed || state.taken.contains(last.from)) {
      if (std::ranges::find(read, last.from, &Sampled::from) != read.end()) continue;
    } else {
      const auto& left = callbacks_[last.from.value()].newest;
      const auto found = std::ranges::find_if(left.rbegin(), left.rend(), [&](InstanceId id) {
        const InstanceRecord* const record = window_.find(id);
        return record != nullptr && record->end <= instance.start;
      });
      if (found != left.rend() && *found > last.instance) {
        last.instance = *found;
        again = false;
      }
    }
    if (last.instance != InstanceId::none) read.push_back({last.from, last.instance, again});
  }
  sampled_.erase(sampled_.begin(), std::ranges::find_if(sampled_, [this](const auto& entry) {
                   return is_recent(entry.first);
                 }));
}

bool Measurer::is_recent(InstanceId id) const {
  // One that runs has a later number than those that have ended.
  return id > newest_ || static_cast<std::uint64_t>(newest_) - static_cast<std::uint64_t>(id) <
                             InstanceWindow::capacity;
}

InstanceId Measurer::previous_on_chain(const InstanceRecord& current, model::CallbackIndex from,
                                       bool again, PublicationId as) const {
  const auto& samples = callbacks_[current.callback.value()].samples;
  if (std::ranges::find(samples, from, &Sampled::from) == samples.end()) return current.cause;
  const auto read = sampled_.find(current.id);
  if (read == sampled_.end()) {
    return InstanceId::none;
  }
  const auto found = std::ranges::find_if(read->second, [&](const Sampled& sampled) {
    const bool is_other = as != PublicationId::none && sampled.as != PublicationId::none;
    return sampled.from == from && (!is_other || sampled.as == as);
  });
  if (found == read->second.end() || (found->again && !again)) return InstanceId::none;
  return found->instance;
}

void Measurer::measure_edge(const Database& database, std::size_t index,
                            const CallbackInstance& instance, const Publication& publication,
                            bool alone) {
  Measurement::Edge& edge = measured_.edges[index];
  ++edge.count;
  SentTogether& together = sent_together_[index];
  if (together.run != publication.instance) together = {.run = publication.instance};
  if (instance.source > together.newest) {
    together.newest = instance.source;
    ++together.number;
  }
  edge.most_of_one_run = std::max(edge.most_of_one_run, together.number);
  edge.by_memory += instance.by_memory ? 1 : 0;
  if (!has_statistics_) {
    return;
  }
  const InstanceRecord* const sender = window_.find(publication.instance);
  // A sender without a record is taken to run still.
  const Instant sender_end = sender != nullptr ? sender->end : Instant::max();
  if (const auto visible =
          execution::visible_delay(instance, publication.sent, sender_end, alone)) {
    edge.delay.record(*visible);
  }
  // Fast DDS may have had a message that was taken from shared memory, too.
  if (!instance.taken || instance.by_memory) return;
  if (const auto times = message_times_.find(database.objects(), publication, instance.callback)) {
    edge.sending.record(times->written - publication.sent);
    edge.transport.record(times->received - times->written);
    edge.waiting.record(*instance.taken - times->received);
  }
}

void Measurer::on_late_source(const Database& database, InstanceId instance, PublicationId source) {
  const Publication* const publication = database.publication(source);
  if (publication == nullptr) {
    return;
  }
  const auto sender = sender_of(database, publication);
  if (InstanceRecord* const record = sender ? window_.find(instance) : nullptr) {
    record->source = source;
    record->cause = publication->instance;
  }
  // It was sent after it was taken, as far as the clocks show: that tells nothing of its delay, and
  // it activated the instance when it was taken.
  const auto awaiting = awaiting_source_.extract(instance);
  if (awaiting && sender) {
    const auto& edges = callbacks_[awaiting.mapped().value()].edge_from;
    if (const auto edge = edges.find(*sender); edge != edges.end()) {
      ++measured_.edges[edge->second].count;
    }
  }
}

void Measurer::on_dds_write(const Database& /*database*/, const execution::DdsMessage& message,
                            Instant time) {
  message_times_.write(message, time);
}

void Measurer::on_dds_receive(const Database& /*database*/, const execution::DdsMessage& message,
                              execution::ProcessIndex process, Instant time) {
  message_times_.receive(message, process, time);
}

void Measurer::on_switch(const Database& database, const execution::Occurrence& at,
                         const tracepoints::SchedSwitch& change) {
  if (has_statistics_) processor_waits_.on_switch(database, at, change);
}

void Measurer::on_wakeup(const Database& database, const execution::Occurrence& at,
                         const tracepoints::SchedWakeup& wakeup) {
  if (has_statistics_) processor_waits_.on_wakeup(database, at, wakeup);
}

void Measurer::on_steady_state(const Database& /*database*/, Instant time) {
  std::vector<Measurement::Chain::StartUp> start_up(model_.chains.size());
  if (has_statistics_ && !on_chain_) {
    const Measurement before = measurement();
    for (std::size_t i = 0; i < start_up.size(); ++i) {
      const Distribution& latency = before.chains[i].latency;
      if (latency.count() != 0) start_up[i] = {latency.count(), latency.max()};
    }
  }
  steady_since_ = time;
  ends_.clear();
  waiting_.clear();
  awaiting_source_.clear();
  std::ranges::fill(inputs_, Inputs{});
  measured_.timeline.clear();
  measured_.beyond_window = 0;
  std::ranges::fill(measured_.callbacks, Measurement::Callback{});
  std::ranges::fill(measured_.chains, Measurement::Chain{});
  for (std::size_t i = 0; i < start_up.size(); ++i) measured_.chains[i].start_up = start_up[i];
  std::ranges::fill(measured_.edges, Measurement::Edge{});
  std::ranges::fill(windows_, ThreadWindows{});
  processor_waits_.clear();
}

void Measurer::follow(InstanceWindow& window, InputsOfChains& inputs, Measurement& measurement,
                      InstanceId id) const {
  const InstanceRecord* const end = window.find(id);
  if (end == nullptr) {
    ++measurement.beyond_window;
    return;
  }
  for (const std::size_t chain : callbacks_[end->callback.value()].last_in) {
    follow(window, inputs, measurement, *end, chain);
  }
}

void Measurer::record(InstanceWindow& window, InputsOfChains& inputs, Measurement& measurement,
                      ChainInstance seen) const {
  const auto add = [&] {
    if (has_statistics_) {
      Measurement::Chain& chain = measurement.chains[seen.chain];
      const Duration latency = seen.completion - seen.since;
      chain.latency.record(latency);
      if (chain.longest.run == InstanceId::none || latency > chain.longest.latency) {
        chain.longest = {.run = seen.path.back(), .since = seen.since, .latency = latency};
      }
    }
    if (on_chain_) on_chain_(seen);
  };
  if (model_.chains[seen.chain].kind != model::GoalKind::reaction) {
    add();
    return;
  }
  auto& waiting = inputs[seen.chain].waiting;
  while (!waiting.empty()) {
    const auto [reader, since] = waiting.front();
    const InstanceRecord* const read = window.find(reader);
    if (read != nullptr && read->activation > seen.activation) return;
    waiting.pop_front();
    if (const InstanceRecord* const from = window.find(since)) {
      seen.since = from->activation;
      add();
    } else {
      ++measurement.beyond_window;
    }
  }
}

/// Goes back from the end of a chain to its beginning.
Measurer::Found Measurer::follow(InstanceWindow& window, InputsOfChains& inputs,
                                 Measurement& measurement, const InstanceRecord& end,
                                 std::size_t chain) const {
  const auto& path = model_.chains[chain].callbacks;
  const InstanceRecord* current = &end;
  const auto completion = end_of(end, chain);
  if (!completion) return Found::other_path;
  std::vector<InstanceId> instances(path.size(), end.id);
  Duration before_readers{};
  PublicationId as = PublicationId::none;
  const bool again = model_.chains[chain].kind == model::GoalKind::age;
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    before_readers += current->before_reader;
    const InstanceId before =
        previous_on_chain(*current, path[i - 1], again, std::exchange(as, current->source));
    if (before == InstanceId::none) {
      return awaiting_source_.contains(current->id) ? Found::sender_unknown : Found::other_path;
    }
    current = window.find(before);
    if (current == nullptr) {
      // One from before the first that was seen, or of long ago, does not come any more.
      const bool may_end = before >= first_ && is_recent(before);
      return may_end ? Found::sender_not_ended : Found::other_path;
    }
    if (current->callback != path[i - 1]) {
      return Found::other_path;
    }
    instances[i - 1] = current->id;
  }
  const Instant activation = current->activation + before_readers;
  if (steady_since_ && current->end < *steady_since_) {
    Measurement::Chain::StartUp& start_up = measurement.chains[chain].start_up;
    ++start_up.count;
    start_up.longest =
        std::max(start_up.longest, *completion - activation - correction(path.front()));
    return Found::other_path;
  }
  record(window, inputs, measurement,
         {.chain = chain,
          .since = activation,
          .activation = activation,
          .completion = *completion,
          .path = std::move(instances),
          .before_readers = before_readers});
  const auto& starting = callbacks_[path.front().value()].first_in;
  const auto number =
      static_cast<std::size_t>(std::ranges::find(starting, chain) - starting.begin());
  measurement.chains[chain].completed += window.complete(current->id, number) ? 1u : 0u;
  return Found::beginning;
}

bool Measurer::settle(InstanceId id, std::size_t chain, Instant time) {
  const InstanceRecord* const end = window_.find(id);
  if (end == nullptr) {
    ++measured_.beyond_window;
    return true;
  }
  const Found found = follow(window_, inputs_, measured_, *end, chain);
  if (found == Found::sender_not_ended && end->end + longest_instance >= time &&
      waiting_.size() < most_awaiting) {
    return false;
  }
  if (on_unfollowed_ && (found == Found::sender_unknown || found == Found::sender_not_ended)) {
    using enum UnfollowedEnd::Reason;
    on_unfollowed_({.chain = chain,
                    .instance = id,
                    .completion = end->end,
                    .reason = found == Found::sender_unknown ? sender_unknown : sender_not_ended});
  }
  return true;
}

void Measurer::follow_until(Instant time) {
  while (!sampled_.empty()) {
    const InstanceRecord* const reader = window_.find(sampled_.begin()->first);
    if (reader != nullptr && reader->end + longest_instance >= time) {
      break;
    }
    sampled_.erase(sampled_.begin());
  }
  std::erase_if(waiting_, [&](const auto& wait) { return settle(wait.first, wait.second, time); });
  while (!ends_.empty()) {
    const InstanceId id = ends_.front();
    const InstanceRecord* const end = window_.find(id);
    if (end != nullptr && end->end >= time) {
      return;
    }
    ends_.pop_front();
    if (end == nullptr) {
      ++measured_.beyond_window;
      continue;
    }
    for (const std::size_t chain : callbacks_[end->callback.value()].last_in) {
      if (!settle(id, chain, time)) waiting_.emplace_back(id, chain);
    }
  }
}

std::set<InstanceId> Measurer::pending() const {
  std::set<InstanceId> ids(ends_.begin(), ends_.end());
  for (const auto& [id, chain] : waiting_) ids.insert(id);
  return ids;
}

std::size_t Measurer::waiting(std::size_t chain) const {
  return static_cast<std::size_t>(
      std::ranges::count(waiting_, chain, [](const auto& wait) { return wait.second; }));
}

void Measurer::finish() {
  for (const auto& [id, chain] : std::exchange(waiting_, {})) {
    if (const InstanceRecord* const end = window_.find(id)) {
      follow(window_, inputs_, measured_, *end, chain);
    }
  }
  for (const InstanceId end : ends_) {
    follow(window_, inputs_, measured_, end);
  }
  ends_.clear();
}

Duration Measurer::correction(model::CallbackIndex callback) const {
  const auto& grid = callbacks_[callback.value()].grid;
  return grid ? grid->correction() : Duration{0};
}

Measurement Measurer::measurement() const {
  Measurement corrected = measured_;
  InstanceWindow window = window_;
  InputsOfChains inputs = inputs_;
  for (const InstanceId end : ends_) {
    follow(window, inputs, corrected, end);
  }
  for (std::size_t i = 0; i < corrected.callbacks.size(); ++i) {
    corrected.callbacks[i].response_time.shift(-correction(model::CallbackIndex(i)));
  }
  for (std::size_t i = 0; i < corrected.chains.size(); ++i) {
    const Duration late = correction(model_.chains[i].callbacks.front());
    corrected.chains[i].latency.shift(-late);
    corrected.chains[i].longest.since += late;
  }
  corrected.windows.resize(model_.executors.size());
  for (const ThreadWindows& thread : windows_) {
    if (!thread.executor) continue;
    const auto [windows, contradicting] = thread.check.counts();
    corrected.windows[thread.executor->value()].windows += windows;
    corrected.windows[thread.executor->value()].contradicting += contradicting;
  }
  if (processor_waits_.recorded()) corrected.processor_waits.resize(model_.executors.size());
  const std::size_t threads = std::min(executors_.size(), processor_waits_.waits().size());
  for (std::size_t i = 0; i < threads; ++i) {
    const ProcessorWaits::Wait& seen = processor_waits_.waits()[i];
    if (!executors_[i]) continue;
    Measurement::ProcessorWait& wait = corrected.processor_waits[executors_[i]->value()];
    if (seen.longest <= wait.longest) continue;
    wait = {seen.longest, seen.actor == no_actor ? "" : processor_waits_.name(seen.actor)};
  }
  for (Measurement::Shown& shown : corrected.timeline) {
    shown.activation += correction(shown.callback);
  }
  return corrected;
}

}  // namespace takt::flow
