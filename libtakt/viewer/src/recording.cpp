#include "takt/viewer/recording.hpp"

#include "takt/base/grow.hpp"

namespace takt::viewer {
namespace {

/// Instances whose source came to light while they run; a trace that never ends them is damaged.
constexpr std::size_t most_late_sources = std::size_t{1} << 16;

}  // namespace

using execution::CallbackInstance;
using execution::Database;
using execution::InstanceId;
using execution::Publication;
using execution::PublicationId;

Recording::Recording(const model::Model& model, const Storage& storage)
    : matcher_(model),
      most_(storage.runs()),
      runs_(storage.memory()),
      position_(storage.memory()),
      sent_(storage.memory()),
      takes_(storage.memory()),
      chains_(storage.memory()),
      paths_(storage.memory()) {
  storage.prepare(runs_, most_);
  storage.prepare(position_, 2 * most_);
  storage.prepare(sent_, 2 * most_);
  storage.prepare(takes_, most_);
  storage.prepare(chains_, most_);
  storage.prepare(paths_, 8 * most_);
}

void Recording::on_instance(const Database& database, const CallbackInstance& instance) {
  executors_.on_instance(database, instance);
  const auto match = matcher_.match(database.objects(), instance.callback);
  grow_to(matches_, instance.callback) = match ? std::optional(match->callback) : std::nullopt;
  const auto id = static_cast<std::size_t>(instance.id);
  if (runs_.size() == most_ || id > 2 * most_) {
    ++left_out_;
    return;
  }
  Run run{instance, std::nullopt, std::nullopt};
  if (const auto late = late_sources_.extract(instance.id)) {
    run.instance.source = late.mapped();
  }
  const execution::Objects& objects = database.objects();
  const Publication* const source = database.publication(run.instance.source);
  if (const auto& timer = objects[instance.callback].timer) {
    run.due =
        grids_.try_emplace(instance.callback, objects[*timer].period).first->second.add(instance);
  }
  const auto& subscription = objects[instance.callback].subscription;
  if (source != nullptr && source->publisher && subscription) {
    run.message = message_times_.find({objects[*source->publisher].gid, source->source_timestamp},
                                      objects[*subscription].process);
  }
  runs_.push_back(run);
  if (position_.size() <= id) {
    position_.resize(id + 1);
  }
  position_[id] = static_cast<std::uint32_t>(runs_.size());
}

std::optional<Instant> Recording::due(const Run& run) const {
  if (!run.due) {
    return std::nullopt;
  }
  return *run.due + grids_.at(run.instance.callback).correction();
}

void Recording::on_publication(const Database& /*database*/, const Publication& publication) {
  const auto id = static_cast<std::size_t>(publication.id);
  if (id > 2 * most_) {
    return;
  }
  if (sent_.size() <= id) {
    sent_.resize(id + 1);
  }
  const bool to_all = !publication.intra_process && !publication.repeats_intra_process;
  sent_[id] = Sent{publication.topic, publication.instance, publication.sent, to_all};
}

void Recording::on_take(const Database& /*database*/, const execution::Take& take) {
  if (takes_.size() < most_ && take.source != PublicationId::none) {
    takes_.push_back(take);
  }
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
    runs_[*position].instance.source = source;
    return;
  }
  late_sources_[instance] = source;
  if (late_sources_.size() > most_late_sources) {
    late_sources_.erase(late_sources_.begin());  // the instance that began first
  }
}

void Recording::add(const flow::ChainInstance& instance) {
  if (chains_.size() < most_) {
    chains_.push_back({static_cast<std::uint32_t>(instance.chain),
                       static_cast<std::uint32_t>(instance.path.size()), instance.activation,
                       paths_.size()});
    paths_.insert(paths_.end(), instance.path.begin(), instance.path.end());
  }
}

void Recording::on_steady_state(const Database& /*database*/, Instant /*time*/) {
  chains_.clear();
  paths_.clear();
}

std::optional<std::size_t> Recording::find(InstanceId id) const {
  const auto number = static_cast<std::size_t>(id);
  if (number >= position_.size() || position_[number] == 0) {
    return std::nullopt;
  }
  return position_[number] - 1;
}

const Sent* Recording::find(PublicationId id) const {
  const auto number = static_cast<std::size_t>(id);
  return number < sent_.size() && sent_[number] ? &*sent_[number] : nullptr;
}

}  // namespace takt::viewer
