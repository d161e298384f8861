#include "takt/flow/store.hpp"

#include <algorithm>

#include "takt/base/grow.hpp"

namespace takt::flow {
namespace {

/// A damaged trace may number its runs as it likes; gaps beyond this are not filled.
constexpr std::uint64_t largest_gap = std::uint64_t{1} << 24;

/// The row with a number, made if need be; null for a number that was dropped or is absurd.
template <typename Row>
Row* row(std::vector<Row>& rows, std::uint64_t first, std::uint64_t number) {
  if (number < first || number - first > rows.size() + largest_gap) {
    return nullptr;
  }
  if (number - first >= rows.size()) {
    rows.resize(number - first + 1);
  }
  return &rows[number - first];
}

}  // namespace

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
  }
  Run* const run = row(runs_, first_run_, static_cast<std::uint64_t>(instance.id));
  if (run == nullptr) {
    return;
  }
  if (instance.callback.value() < members_.size() && members_[instance.callback.value()]) {
    members_[instance.callback.value()]->unhandled.erase(activation);
  }
  const auto late = late_sources_.extract(instance.id);
  run->start = instance.start;
  run->end = instance.end;
  run->activation = activation;
  run->wait_begin = instance.wait_end ? *instance.wait_begin : instance.start;
  run->wait_end = instance.wait_end.value_or(instance.start);
  run->source = late ? late.mapped() : instance.source;
  run->callback = instance.callback;
  run->thread = instance.thread;
  run->is_known = true;
  run->first_after_wait = instance.first_after_wait;
  run->was_chosen = instance.was_chosen;
  const execution::Publication* const sent = database.publication(run->source);
  if (sent != nullptr && sent->publisher && callback.subscription && instance.taken) {
    if (const auto times =
            message_times_.find({objects[*sent->publisher].gid, sent->source_timestamp},
                                objects[*callback.subscription].process)) {
      times_.emplace(instance.id, *times);
    }
  }
  compare_clocks(database, instance.id, sent);
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
  if (from != to && static_cast<std::uint64_t>(instance) >= aligned_run_) {
    const auto moments = times(instance);
    clocks_.add(from, sent->sent, to, moments ? moments->received : run.activation);
  }
}

void Store::on_publication(const execution::Database& /*database*/,
                           const execution::Publication& publication) {
  Message* const message =
      row(messages_, first_message_, static_cast<std::uint64_t>(publication.id));
  if (message != nullptr) {
    *message = {publication.begin,        publication.sent,
                publication.topic,        publication.publisher,
                publication.thread,       publication.instance,
                publication.callback,     !publication.publisher.has_value(),
                publication.intra_process};
  }
}

void Store::on_take(const execution::Database& database, const execution::Take& take) {
  ++takes_;
  const execution::Objects& objects = database.objects();
  for (; links_ < objects.input_links.size(); ++links_) {
    const execution::InputLink& link = objects.input_links[links_];
    if (link.kind != execution::InputLink::Kind::sampled) {
      const HostIndex host = database.threads()[link.process].host;
      for (const execution::ObservedCallbackIndex input : link.inputs) {
        grow_to(members_, input) = Member{host, {}};
      }
    }
  }
  const execution::ObservedCallbackIndex callback = objects[take.subscription].callback;
  if (callback.value() < members_.size() && members_[callback.value()]) {
    members_[callback.value()]->unhandled.insert(take.time);
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
  if (const Run* const run = find(instance)) {
    runs_[static_cast<std::uint64_t>(instance) - first_run_].source = source;
    compare_clocks(database, instance, database.publication(source));
  } else if (static_cast<std::uint64_t>(instance) >= first_run_ &&
             late_sources_.size() < MessageTimes::capacity) {
    late_sources_[instance] = source;
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

std::vector<Instant> Store::unhandled(execution::ObservedCallbackIndex callback) const {
  if (callback.value() >= members_.size() || !members_[callback.value()]) {
    return {};
  }
  const Member& member = *members_[callback.value()];
  std::vector<Instant> found;
  for (const Instant time : member.unhandled) {
    found.push_back(told(member, time));
  }
  return found;
}

Instant Store::told(const Member& member, Instant time) const {
  const bool is_aligned = member.host.value() < told_clocks_.size();
  return is_aligned ? told_clocks_[member.host.value()].to_reference(time) : time;
}

void Store::align(const events::Threads& threads, const std::vector<HostClock>& clocks) {
  told_clocks_ = clocks;
  const auto clock_of = [&](execution::ThreadIndex thread) -> const HostClock& {
    return clocks[threads[threads[thread].process].host.value()];
  };
  for (; aligned_message_ < end_message(); ++aligned_message_) {
    if (aligned_message_ >= first_message_) {
      Message& message = messages_[aligned_message_ - first_message_];
      message.begin = clock_of(message.thread).to_reference(message.begin);
      message.sent = clock_of(message.thread).to_reference(message.sent);
    }
  }
  for (; aligned_run_ < end_run(); ++aligned_run_) {
    if (aligned_run_ < first_run_ || !runs_[aligned_run_ - first_run_].is_known) {
      continue;
    }
    Run& run = runs_[aligned_run_ - first_run_];
    const HostClock& clock = clock_of(run.thread);
    for (Instant* const time :
         {&run.start, &run.end, &run.activation, &run.wait_begin, &run.wait_end}) {
      *time = clock.to_reference(*time);
    }
    const auto moments = times_.find(static_cast<InstanceId>(aligned_run_));
    const Message* const sent = find(run.source);
    if (moments != times_.end() && sent != nullptr) {
      moments->second.written = clock_of(sent->thread).to_reference(moments->second.written);
      moments->second.received = clock.to_reference(moments->second.received);
    }
  }
}

void Store::drop_before(std::uint64_t run) {
  const std::uint64_t dropped = std::min<std::uint64_t>(run - first_run_, runs_.size());
  if (run <= first_run_ || dropped == 0) {
    return;
  }
  // A run that is kept began after those that are dropped, and sent its messages after that.
  Instant since = Instant::max();
  for (std::uint64_t i = dropped; i < runs_.size() && since == Instant::max(); ++i) {
    since = runs_[i].is_known ? runs_[i].start : since;
  }
  runs_.erase(runs_.begin(), runs_.begin() + static_cast<std::ptrdiff_t>(dropped));
  first_run_ += dropped;
  const auto kept = std::ranges::find_if(
      messages_, [since](const Message& message) { return message.sent >= since; });
  first_message_ += static_cast<std::uint64_t>(kept - messages_.begin());
  messages_.erase(messages_.begin(), kept);
  for (auto& member : members_) {
    if (member) {
      std::erase_if(member->unhandled, [&](Instant time) { return told(*member, time) < since; });
    }
  }
  std::erase_if(times_, [this](const auto& entry) {
    return static_cast<std::uint64_t>(entry.first) < first_run_;
  });
}

}  // namespace takt::flow
