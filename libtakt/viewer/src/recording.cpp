#include "takt/viewer/recording.hpp"

#include <algorithm>
#include <numeric>

#include "takt/base/grow.hpp"

namespace takt::viewer {
namespace {

/// Takes that wait for a run that may follow. A run that ends later still counts; its take is then
/// kept for nothing.
constexpr std::size_t most_open_takes = std::size_t{1} << 12;

/// How many steps of chains are kept for each run: a run may be part of instances of so many
/// chains. A short recording may have more.
constexpr std::size_t steps_per_run = 4;
constexpr std::size_t least_steps = std::size_t{2} << 20;

/// Chains with goals come first, then the others as the model has them.
std::vector<std::size_t> by_rank(const model::Model& model) {
  std::vector<std::size_t> order(model.chains.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_partition(
      order, [&](std::size_t chain) { return model.chains[chain].goal.has_value(); });
  return order;
}

}  // namespace

using execution::CallbackInstance;
using execution::Database;
using execution::InstanceId;
using execution::Publication;
using execution::PublicationId;

Recording::Recording(const model::Model& model, const Storage& storage, Keep keep)
    : matcher_(model),
      most_(storage.runs()),
      keep_(keep),
      runs_(storage),
      positions_(storage),
      sent_(storage),
      takes_(storage),
      chains_(storage),
      paths_(storage),
      kept_(by_rank(model)),
      keeps_(model.chains.size(), true),
      steps_(model.chains.size()),
      chain_whole_until_(model.chains.size(), Instant::max()) {}

void Recording::on_instance(const Database& database, const CallbackInstance& instance) {
  writer_([&] { keep(database, instance); });
}

void Recording::on_publication(const Database& /*database*/, const Publication& publication) {
  writer_([&] { keep(publication); });
}

void Recording::on_take(const Database& database, const execution::Take& take) {
  writer_([&] { keep(database, take); });
}

void Recording::add(const flow::ChainInstance& instance) {
  writer_([&] { keep(instance); });
}

void Recording::keep(const Database& database, const CallbackInstance& instance) {
  executors_.on_instance(database, instance);
  const execution::Objects& objects = database.objects();
  const auto match = matcher_.match(objects, instance.callback);
  grow_to(matches_, instance.callback) = match ? std::optional(match->callback) : std::nullopt;
  grow_to(execution_times_, instance.callback).record(instance.execution_time());
  if (const auto& subscription = objects[instance.callback].subscription) {
    open_.erase({instance.source, *subscription});
  }
  const auto id = static_cast<std::size_t>(instance.id);
  if (runs_.size() == most_ || id > 2 * most_) {
    ++left_out_.runs;
    misses_some_of_.insert(instance.callback);
    miss_from(instance.start);
    return;
  }
  Run run{.start = instance.start,
          .end = instance.end,
          .taken = instance.taken.value_or(instance.start),
          .source = instance.source,
          .callback = instance.callback,
          .thread = instance.thread,
          .idle = flow::Idle::of(instance.suspended),
          .arrival = {}};
  run.arrival = flow::arrival_of(activation(database, instance));
  runs_.push_back(run);
  if (positions_.size() <= id) {
    positions_.resize(id + 1);
  }
  positions_[id] = static_cast<std::uint32_t>(runs_.size());
}

flow::Activation Recording::activation(const Database& database, const CallbackInstance& instance) {
  const execution::Objects& objects = database.objects();
  const execution::Callback& callback = objects[instance.callback];
  flow::Activation known;
  known.by_memory = instance.by_memory;
  // In chains the time until the middleware has matched the reader counts nowhere, either.
  if (const auto arrival = instance.late_arrival()) known.late = {*arrival, *arrival};
  if (const Publication* const source = database.publication(instance.source)) {
    known.times = message_times_.find(objects, *source, instance.callback);
    known.not_before = arrival_order_.not_before(instance, *source);
  }
  if (instance.wait_end) {
    known.wait_begin = *instance.wait_begin;
    known.wait_end = *instance.wait_end;
    known.first_after_wait = instance.first_after_wait;
  }
  if (callback.timer) {
    auto& grid =
        grids_.try_emplace(instance.callback, objects[*callback.timer].period).first->second;
    const Instant due = grid.add(instance);
    for (const auto& [id, amended] : grid.amended()) {
      if (const auto position = find(id)) runs_[*position].arrival.first = amended;
    }
    known.due = instance.taken ? *instance.taken - grid.correction() : due;
  } else if (callback.triggers) {
    known.due = instance.taken.value_or(instance.start);
  }
  return known;
}

flow::Arrival Recording::arrival(const Run& run) const {
  flow::Arrival arrival = run.arrival;
  if (const auto grid = grids_.find(run.callback);
      grid != grids_.end() && arrival.known == flow::Arrival::Known::due) {
    arrival.first += grid->second.correction();
  }
  return arrival;
}

void Recording::keep(const Publication& publication) {
  const auto id = static_cast<std::size_t>(publication.id);
  if (id > 2 * most_) {
    ++left_out_.messages;
    miss_from(publication.sent);
    return;
  }
  if (sent_.size() <= id) {
    sent_.resize(id + 1);
  }
  sent_[id] = {.begin = publication.begin,
               .time = publication.sent,
               .instance = publication.instance,
               .topic = publication.topic,
               .is_known = true,
               .to_all = !publication.intra_process && !publication.repeats_intra_process,
               .intra_process = publication.intra_process};
}

void Recording::keep(const Database& database, const execution::Take& take) {
  const auto callback = database.objects()[take.subscription].callback;
  if (take.source == PublicationId::none) {
    return;
  }
  if (takes_.size() == most_) {
    ++left_out_.takes;
    misses_some_of_.insert(callback);
    return;
  }
  open_[{take.source, take.subscription}] = {take.source, take.time, callback};
  if (open_.size() > most_open_takes) {
    takes_.push_back(open_.begin()->second);
    open_.erase(open_.begin());
  }
}

Result<void> Recording::finish() {
  writer_([&] {
    for (const auto& [what, open] : open_) takes_.push_back(open);
    open_.clear();
  });
  return filled();
}

void Recording::on_dds_write(const Database& /*database*/, const execution::DdsMessage& message,
                             Instant time) {
  message_times_.write(message, time);
}

void Recording::on_dds_receive(const Database& /*database*/, const execution::DdsMessage& message,
                               execution::ProcessIndex process, Instant time) {
  message_times_.receive(message, process, time);
}

void Recording::on_late_source(const Database& /*database*/, InstanceId instance,
                               PublicationId source) {
  if (const auto position = find(instance)) {
    runs_[*position].source = source;
  }
}

void Recording::keep(const flow::ChainInstance& instance) {
  if (!keeps_[instance.chain]) {
    return;
  }
  if (chains_.size() == most_) {
    ++left_out_.chains;
    Instant& whole_until = chain_whole_until_[instance.chain];
    whole_until = std::min(whole_until, instance.since);
    return;
  }
  const Instant activation = instance.activation - instance.before_readers;
  chains_.push_back({.since = std::min(instance.since, activation),
                     .activation = activation,
                     .end = instance.completion,
                     .path = paths_.size(),
                     .chain = static_cast<std::uint32_t>(instance.chain),
                     .length = static_cast<std::uint32_t>(instance.path.size())});
  for (const InstanceId id : instance.path) {
    paths_.push_back(static_cast<std::uint32_t>(id));
  }
  steps_[instance.chain] += instance.path.size();
  const std::size_t limit = std::max(least_steps, steps_per_run * runs_.size());
  if (keep_ == Keep::chains_that_fit && paths_.size() > limit) {
    drop_chains(limit - limit / 4);
  }
}

/// Drops chains until at most `most_steps` steps are left, or a single chain.
void Recording::drop_chains(std::size_t most_steps) {
  std::size_t steps = paths_.size();
  while (kept_.size() > 1 && steps > most_steps) {
    steps -= steps_[kept_.back()];
    keeps_[kept_.back()] = false;
    kept_.pop_back();
  }
  std::size_t left = 0;
  std::size_t end = 0;
  for (const Complete& instance : chains_) {
    if (!keeps_[instance.chain]) {
      continue;
    }
    Complete moved = instance;
    moved.path = end;
    for (const std::uint32_t run : path(instance)) {
      paths_[end++] = run;
    }
    chains_[left++] = moved;
  }
  chains_.resize(left);
  paths_.resize(end);
}

void Recording::on_steady_state(const Database& /*database*/, Instant /*time*/) {
  chains_.clear();
  paths_.clear();
  std::ranges::fill(steps_, 0);
  left_out_.chains = 0;
  std::ranges::fill(chain_whole_until_, Instant::max());
}

std::optional<std::size_t> Recording::find(InstanceId id) const {
  const auto number = static_cast<std::size_t>(id);
  if (number >= positions_.size() || positions_[number] == 0) {
    return std::nullopt;
  }
  return positions_[number] - 1;
}

const Sent* Recording::find(PublicationId id) const {
  const auto number = static_cast<std::size_t>(id);
  return number < sent_.size() && sent_[number].is_known ? &sent_[number] : nullptr;
}

}  // namespace takt::viewer
