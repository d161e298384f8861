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

/// Where chains are followed as they end, an instance of a chain is taken to be shorter than this.
constexpr Duration longest_instance = std::chrono::minutes(1);

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
      windows_(model.executors.size()),
      window_(most_chains_from_one(model)) {
  measured_.callbacks.resize(model.callbacks.size());
  measured_.chains.resize(model.chains.size());
  measured_.edges.resize(model.edges.size());
  for (std::size_t i = 0; i < model.edges.size(); ++i) {
    const model::Edge& edge = model.edges[i];
    CallbackState& receiver = callbacks_[edge.to.value()];
    const bool is_new = receiver.edge_from.emplace(edge.from, i).second;
    if (is_new && model::samples_messages(model[edge.to])) {
      receiver.samples.push_back({edge.from, InstanceId::none});
      callbacks_[edge.from.value()].is_sampled = true;
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
    callbacks_[model.chains[i].callbacks.front().value()].first_in.push_back(i);
    callbacks_[model.chains[i].callbacks.back().value()].last_in.push_back(i);
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
  // An executor that completes sets when messages come chooses only messages that complete one,
  // however late. Where callbacks complete sets, it chooses all messages or none.
  const bool is_kind_that_is_kept = instance.taken && !instance.intra_process;
  state.passes_over = state.passes_over || (is_kind_that_is_kept && !instance.was_chosen);
  state.binds = state.binds || (instance.was_chosen && state.passes_over);
  if (state.binds) {
    return instance.was_chosen;
  }
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
  }
}

void Measurer::on_instance(const Database& database, const CallbackInstance& instance) {
  if (newest_ == InstanceId::none) {
    first_ = instance.id;
  }
  newest_ = std::max(newest_, instance.id);
  const execution::Objects& objects = database.objects();
  const auto match = matcher_.match(objects, instance.callback);
  if (!match) {
    return;
  }
  check_window(instance, match->callback);
  CallbackState& state = callbacks_[match->callback.value()];
  const Publication* const publication = database.publication(instance.source);
  const auto sender = sender_of(database, publication);
  Duration delay{};
  if (const auto edge = sender ? state.edge_from.find(*sender) : state.edge_from.end();
      edge != state.edge_from.end()) {
    assert(publication != nullptr);
    delay = model_.edges[edge->second].delay;
    const bool alone = model_[model_[match->callback].executor].threads == 1;
    measure_edge(database, measured_.edges[edge->second], instance, *publication, alone);
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
  if (const auto& timer = objects[instance.callback].timer) {
    if (!state.grid) {
      state.grid.emplace(objects[*timer].period);
    }
    record.activation = state.grid->add(instance);
  } else if (publication != nullptr) {
    record.activation =
        std::min(publication->sent + delay, instance.taken.value_or(instance.start));
    record.cause = sender ? publication->instance : InstanceId::none;
  } else {
    record.activation = instance.taken.value_or(instance.start);
  }
  if (is_recent(instance.id)) {
    link(state, instance, record);
  } else {
    ++measured_.beyond_window;
  }

  Measurement::Callback& measured = measured_.callbacks[match->callback.value()];
  ++measured.count;
  if (has_statistics_) {
    measured.execution_time.record(instance.execution_time());
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
  }
  while (!ends_.empty() &&
         static_cast<std::uint64_t>(newest_) - static_cast<std::uint64_t>(ends_.front()) >
             follow_delay) {
    follow(window_, measured_, ends_.front());
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

/// Privileged timers are in no ready set.
void Measurer::check_window(const CallbackInstance& instance, model::CallbackIndex callback) {
  const model::Executor& executor = model_[model_[callback].executor];
  const bool privileged = executor.timers == model::TimerHandling::privileged &&
                          model_[callback].kind == model::CallbackKind::timer;
  if (executor.kind != model::ExecutorKind::single_threaded || privileged) return;
  windows_[model_[callback].executor.value()].add(instance, places_[callback.value()]);
}

void Measurer::link(CallbackState& state, const CallbackInstance& instance,
                    const InstanceRecord& record) {
  window_.put(record);
  if (!state.samples.empty()) {
    sample(state, instance);
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

void Measurer::sample(CallbackState& state, const CallbackInstance& instance) {
  std::vector<Sampled>& read = sampled_[instance.id];
  for (Sampled& last : state.samples) {
    const auto& left = callbacks_[last.from.value()].newest;
    const auto found = std::ranges::find_if(left.rbegin(), left.rend(), [&](InstanceId id) {
      const InstanceRecord* const record = window_.find(id);
      return record != nullptr && record->end <= instance.start;
    });
    if (found != left.rend() && *found > last.instance) {
      last.instance = *found;
      read.push_back(last);
    }
  }
  sampled_.erase(sampled_.begin(), std::ranges::find_if(sampled_, [this](const auto& entry) {
                   return is_recent(entry.first);
                 }));
}

bool Measurer::is_recent(InstanceId id) const {
  return static_cast<std::uint64_t>(newest_) - static_cast<std::uint64_t>(id) <
         InstanceWindow::capacity;
}

InstanceId Measurer::previous_on_chain(const InstanceRecord& current,
                                       model::CallbackIndex from) const {
  if (callbacks_[current.callback.value()].samples.empty()) {
    return current.cause;
  }
  const auto read = sampled_.find(current.id);
  if (read == sampled_.end()) {
    return InstanceId::none;
  }
  const auto found = std::ranges::find(read->second, from, &Sampled::from);
  return found == read->second.end() ? InstanceId::none : found->instance;
}

void Measurer::measure_edge(const Database& database, Measurement::Edge& edge,
                            const CallbackInstance& instance, const Publication& publication,
                            bool alone) {
  ++edge.count;
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
  const execution::Objects& objects = database.objects();
  const auto& subscription = objects[instance.callback].subscription;
  if (!publication.publisher || !subscription || !instance.taken) {
    return;
  }
  const auto times =
      message_times_.find({objects[*publication.publisher].gid, publication.source_timestamp},
                          objects[*subscription].process);
  if (times) {
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

void Measurer::on_steady_state(const Database& /*database*/, Instant time) {
  steady_since_ = time;
  ends_.clear();
  waiting_.clear();
  awaiting_source_.clear();
  measured_.timeline.clear();
  measured_.beyond_window = 0;
  std::ranges::fill(measured_.callbacks, Measurement::Callback{});
  std::ranges::fill(measured_.chains, Measurement::Chain{});
  std::ranges::fill(measured_.edges, Measurement::Edge{});
  std::ranges::fill(windows_, execution::WindowCheck{});
}

void Measurer::follow(InstanceWindow& window, Measurement& measurement, InstanceId id) const {
  const InstanceRecord* const end = window.find(id);
  if (end == nullptr) {
    ++measurement.beyond_window;
    return;
  }
  for (const std::size_t chain : callbacks_[end->callback.value()].last_in) {
    follow(window, measurement, *end, chain);
  }
}

/// Goes back from the end of a chain to its beginning.
Measurer::Found Measurer::follow(InstanceWindow& window, Measurement& measurement,
                                 const InstanceRecord& end, std::size_t chain) const {
  const auto& path = model_.chains[chain].callbacks;
  const InstanceRecord* current = &end;
  std::vector<InstanceId> instances(path.size(), end.id);
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    const InstanceId before = previous_on_chain(*current, path[i - 1]);
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
  if (steady_since_ && current->end < *steady_since_) {
    return Found::other_path;
  }
  if (has_statistics_) {
    measurement.chains[chain].latency.record(end.end - current->activation);
  }
  if (on_chain_) {
    on_chain_({chain, current->activation, end.end, std::move(instances)});
  }
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
  const Found found = follow(window_, measured_, *end, chain);
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
      follow(window_, measured_, *end, chain);
    }
  }
  for (const InstanceId end : ends_) {
    follow(window_, measured_, end);
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
  for (const InstanceId end : ends_) {
    follow(window, corrected, end);
  }
  for (std::size_t i = 0; i < corrected.callbacks.size(); ++i) {
    corrected.callbacks[i].response_time.shift(-correction(model::CallbackIndex(i)));
  }
  for (std::size_t i = 0; i < corrected.chains.size(); ++i) {
    corrected.chains[i].latency.shift(-correction(model_.chains[i].callbacks.front()));
  }
  for (const execution::WindowCheck& window_check : windows_) {
    corrected.windows.push_back(window_check.counts());
  }
  for (Measurement::Shown& shown : corrected.timeline) {
    shown.activation += correction(shown.callback);
  }
  return corrected;
}

}  // namespace takt::flow
