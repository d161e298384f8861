#include "takt/flow/store.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "takt/base/grow.hpp"

namespace takt::flow {
namespace {

/// No message is on its way for longer.
constexpr Duration longest_way = std::chrono::hours(1);

}  // namespace

Run* Store::row(InstanceId id) {
  const auto number = static_cast<std::uint64_t>(id);
  if (number < first_run_) {
    return nullptr;
  }
  // Numbers are given in order, so what lies between are runs that have not ended.
  if (number >= end_run()) {
    runs_.resize(number - first_run_ + 1);
  }
  return &runs_[number - first_run_];
}

void Store::on_instance(const execution::Database& database,
                        const execution::CallbackInstance& instance) {
  executors_.on_instance(database, instance);
  const execution::Objects& objects = database.objects();
  const execution::Callback& callback = objects[instance.callback];
  Instant activation = instance.taken.value_or(instance.start);
  if (callback.timer) {
    auto& grid = grow_to(grids_, instance.callback);
    if (!grid) {
      grid.emplace(objects[*callback.timer].period);
    }
    activation = grid->add(instance);
    for (const auto& [id, due] : grid->amended()) {
      if (Run* const before = row(id)) before->activation = due;
    }
    if (instance.taken) activation = *instance.taken;
  }
  if (const auto arrival = instance.late_arrival()) {
    late_.emplace(instance.id, Late{*instance.reader_since, *arrival});
  }
  if (const auto* const sent = database.publication(instance.source)) {
    if (const auto time = arrival_order_.not_before(instance, *sent)) {
      not_before_.emplace(instance.id, *time);
    }
  }
  if (instance.callback.value() < members_.size() && members_[instance.callback.value()]) {
    unhandled_ -= members_[instance.callback.value()]->unhandled.erase(activation);
  }
  Run* const run = row(instance.id);
  if (run == nullptr) {
    return;
  }
  if (const Idle idle = Idle::of(instance.suspended); idle != Idle{}) {
    idle_.emplace(instance.id, idle);
  }
  run->start = instance.start;
  run->end = instance.end;
  run->activation = activation;
  run->wait_begin = instance.wait_end ? *instance.wait_begin : instance.start;
  run->wait_end = instance.wait_end.value_or(instance.start);
  if (!instance.wait_end && instance.was_chosen && instance.taken) {
    // A thread that tells of no waits, such as a gate's, has kept the message since it took it, and
    // is taken to have waited until then.
    run->wait_begin = *instance.taken - longest_way;
    run->wait_end = *instance.taken;
  }
  run->source = instance.source;
  run->callback = instance.callback;
  run->thread = instance.thread;
  run->is_known = true;
  run->first_after_wait = instance.first_after_wait;
  run->was_chosen = instance.was_chosen;
  run->by_memory = instance.by_memory;
  if (instance.taken) keep_times(database, instance.id, instance.callback);
  settle(database, instance.id);
}

void Store::on_read(const execution::Database& database, const execution::Read& read) {
  Run* const run = row(read.id);
  if (run == nullptr) {
    return;
  }
  run->start = run->end = run->activation = run->wait_begin = run->wait_end = read.time;
  run->source = read.source;
  run->callback = read.callback;
  run->thread = read.thread;
  run->is_known = true;
  run->by_memory = read.by_memory;
  if (read.reader != InstanceId::none) reads_[read.reader].push_back(read.id);
  readers_[read.id] = read.reader;
  keep_times(database, read.id, read.callback);
  settle(database, read.id);
}

void Store::keep_times(const execution::Database& database, InstanceId instance,
                       execution::ObservedCallbackIndex callback) {
  const execution::Publication* const sent = database.publication(find(instance)->source);
  if (sent == nullptr) return;
  if (const auto times = message_times_.find(database.objects(), *sent, callback)) {
    times_.emplace(instance, *times);
  }
}

void Store::settle(const execution::Database& database, InstanceId instance) {
  compare_clocks(database, instance, database.publication(find(instance)->source));
  const auto number = static_cast<std::uint64_t>(instance);
  if (number < aligned_run_) {
    align_run(database.threads(), number);  // it still ran when its neighbours were aligned
  }
}

std::span<const InstanceId> Store::reads_of(InstanceId reader) const {
  const auto found = reads_.find(reader);
  return found == reads_.end() ? std::span<const InstanceId>() : std::span(found->second);
}

InstanceId Store::reader_of(InstanceId read) const {
  const auto found = readers_.find(read);
  return found == readers_.end() ? InstanceId::none : found->second;
}

void Store::compare_clocks(const execution::Database& database, InstanceId instance,
                           const execution::Publication* sent) {
  const events::Threads& threads = database.threads();
  if (threads.hosts().size() < 2 || sent == nullptr) {
    return;
  }
  const Run& run = *find(instance);
  const HostIndex from = threads[threads[sent->thread].process].host;
  const HostIndex to = threads[threads[run.thread].process].host;
  if (from != to) {
    const auto moments = times(instance);
    clocks_.add(from, sent->sent, to, moments ? moments->received : run.activation);
  }
}

void Store::on_publication(const execution::Database& /*database*/,
                           const execution::Publication& publication) {
  assert(static_cast<std::uint64_t>(publication.id) == end_message());
  messages_.push_back({publication.begin, publication.sent, publication.topic,
                       publication.publisher, publication.thread, publication.instance,
                       publication.callback, publication.intra_process, publication.stamp});
}

void Store::on_take(const execution::Database& database, const execution::Take& take) {
  const execution::Objects& objects = database.objects();
  for (; links_ < objects.input_links.size(); ++links_) {
    const execution::InputLink& link = objects.input_links[links_];
    if (link.kind != execution::InputLink::Kind::sampled) {
      const HostIndex host = database.threads()[link.process].host;
      for (const execution::ObservedCallbackIndex input : link.inputs) {
        auto& member = grow_to(members_, input);
        if (!member) {
          member = Member{host, {}};
        }
      }
    }
  }
  const execution::ObservedCallbackIndex callback = objects[take.subscription].callback;
  if (callback.value() < members_.size() && members_[callback.value()]) {
    const bool is_new =
        members_[callback.value()]->unhandled.try_emplace(take.time, next_take_++).second;
    unhandled_ += is_new ? 1u : 0u;
  }
}

void Store::on_dds_write(const execution::Database& /*database*/,
                         const execution::DdsMessage& message, Instant time) {
  message_times_.write(message, time);
}

void Store::on_dds_receive(const execution::Database& /*database*/,
                           const execution::DdsMessage& message, execution::ProcessIndex process,
                           Instant time) {
  message_times_.receive(message, process, time);
}

void Store::on_late_source(const execution::Database& database, InstanceId instance,
                           PublicationId source) {
  if (find(instance) == nullptr) {
    return;  // dropped, which whoever looks for its message counts
  }
  const auto number = static_cast<std::uint64_t>(instance);
  runs_[number - first_run_].source = source;
  if (number >= aligned_run_) {
    compare_clocks(database, instance, database.publication(source));
  }
}

std::optional<MessageTimes::Times> Store::times(InstanceId id) const {
  const auto found = times_.find(id);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

Duration Store::correction(execution::ObservedCallbackIndex timer) const {
  const auto grid = value_at(grids_, timer);
  return grid ? grid->correction() : Duration{0};
}

Idle Store::idle(InstanceId id) const {
  const auto found = idle_.find(id);
  return found == idle_.end() ? Idle{} : found->second;
}

std::optional<Late> Store::late(InstanceId id) const {
  const auto found = late_.find(id);
  return found == late_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Instant> Store::not_before(InstanceId id) const {
  const auto found = not_before_.find(id);
  return found == not_before_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Instant> Store::unhandled(execution::ObservedCallbackIndex callback) const {
  if (callback.value() >= members_.size() || !members_[callback.value()]) {
    return {};
  }
  const Member& member = *members_[callback.value()];
  std::vector<Instant> found;
  for (const auto& [time, take] : member.unhandled) {
    found.push_back(to_reference(member.host, time));
  }
  return found;
}

Instant Store::to_reference(HostIndex host, Instant time) const {
  const bool is_known = host.value() < reference_clocks_.size();
  return is_known ? reference_clocks_[host.value()].to_reference(time) : time;
}

void Store::align_run(const events::Threads& threads, std::uint64_t number) {
  const auto host_of = [&](execution::ThreadIndex thread) {
    return threads[threads[thread].process].host;
  };
  Run& run = runs_[number - first_run_];
  const HostIndex host = host_of(run.thread);
  for (Instant* const time :
       {&run.start, &run.end, &run.activation, &run.wait_begin, &run.wait_end}) {
    *time = to_reference(host, *time);
  }
  const auto moments = times_.find(static_cast<InstanceId>(number));
  const Message* const sent = find(run.source);
  if (moments != times_.end() && sent != nullptr) {
    moments->second.written = to_reference(host_of(sent->thread), moments->second.written);
    moments->second.received = to_reference(host, moments->second.received);
  }
  if (const auto found = late_.find(static_cast<InstanceId>(number)); found != late_.end()) {
    found->second.since = to_reference(host, found->second.since);
    found->second.arrival = to_reference(host, found->second.arrival);
  }
  const auto not_before = not_before_.find(static_cast<InstanceId>(number));
  if (not_before != not_before_.end()) {
    not_before->second = to_reference(host, not_before->second);
  }
}

void Store::align(const events::Threads& threads, const std::vector<HostClock>& clocks) {
  reference_clocks_ = clocks;
  for (; aligned_message_ < end_message(); ++aligned_message_) {
    Message& message = messages_[aligned_message_ - first_message_];
    const HostIndex host = threads[threads[message.thread].process].host;
    message.begin = to_reference(host, message.begin);
    message.sent = to_reference(host, message.sent);
  }
  for (; aligned_run_ < end_run(); ++aligned_run_) {
    if (runs_[aligned_run_ - first_run_].is_known) {
      align_run(threads, aligned_run_);
    }
  }
}

void Store::drop_before(const Position& kept) {
  const auto runs = std::clamp(kept.run, first_run_, end_run()) - first_run_;
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(runs));
  first_run_ += runs;
  aligned_run_ = std::max(aligned_run_, first_run_);
  const auto messages = std::clamp(kept.message, first_message_, end_message()) - first_message_;
  messages_.erase(messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(messages));
  first_message_ += messages;
  aligned_message_ = std::max(aligned_message_, first_message_);
  for (auto& member : members_) {
    if (member) {
      unhandled_ -= std::erase_if(member->unhandled,
                                  [&](const auto& entry) { return entry.second < kept.take; });
    }
  }
  const auto is_dropped = [this](const auto& entry) {
    return static_cast<std::uint64_t>(entry.first) < first_run_;
  };
  std::erase_if(times_, is_dropped);
  std::erase_if(late_, is_dropped);
  std::erase_if(not_before_, is_dropped);
  std::erase_if(idle_, is_dropped);
  std::erase_if(reads_, is_dropped);
  std::erase_if(readers_, is_dropped);
}

}  // namespace takt::flow
