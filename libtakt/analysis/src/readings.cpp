#include "readings.hpp"

#include <algorithm>
#include <utility>

namespace takt::analysis {

namespace {

/// Whether the other has no bound or a larger one.
bool exceeds(const std::optional<Duration>& other, const std::optional<Duration>& bound) {
  return bound && (!other || *other > *bound);
}

void name_originals(ChainBound& chain, const model::SeparatedModel& separated) {
  for (Segment& segment : chain.segments) {
    for (std::string& id : segment.callbacks) id = original_id(separated, id);
  }
}

}  // namespace

std::string original_id(const model::SeparatedModel& separated, const std::string& id) {
  const auto& callbacks = separated.model.callbacks;
  const auto found = std::ranges::find(callbacks, id, &model::Callback::id);
  if (found == callbacks.end()) return id;
  const auto index = static_cast<std::size_t>(found - callbacks.begin());
  return callbacks[separated.callback_of[index].value()].id;
}

void take_larger(Bounds& bounds, const model::SeparatedModel& separated,
                 const Bounds& of_separated) {
  for (std::size_t i = 0; i < of_separated.callbacks.size(); ++i) {
    const CallbackBound& other = of_separated.callbacks[i];
    CallbackBound& callback = bounds.callbacks[separated.callback_of[i].value()];
    if (exceeds(other.bound, callback.bound)) {
      callback = {std::move(callback.id), other.bound, other.by, other.reason};
    }
  }
  for (std::size_t i = 0; i < of_separated.chains.size(); ++i) {
    const ChainBound& other = of_separated.chains[i];
    ChainBound& chain = bounds.chains[separated.chain_of[i]];
    if (exceeds(other.bound, chain.bound)) {
      chain.bound = other.bound;
      chain.reason = other.reason;
      chain.segments = other.segments;
      name_originals(chain, separated);
    }
    if (exceeds(other.reaction_time, chain.reaction_time)) {
      chain.reaction_time = other.reaction_time;
      chain.reaction_time_reason = other.reaction_time_reason;
    }
    if (exceeds(other.data_age, chain.data_age)) {
      chain.data_age = other.data_age;
      chain.data_age_reason = other.data_age_reason;
    }
  }
  bounds.converged = bounds.converged && of_separated.converged;
  bounds.seconds += of_separated.seconds;
  bounds.steps += of_separated.steps;
  bounds.depends_on_phases = bounds.depends_on_phases || of_separated.depends_on_phases;
  for (const Bounds::Unexplored& executor : of_separated.unexplored) {
    const bool known = std::ranges::any_of(
        bounds.unexplored, [&](const auto& other) { return other.executor == executor.executor; });
    if (!known) bounds.unexplored.push_back(executor);
  }
  const auto add = [](std::vector<std::string>& ids, std::string id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(std::move(id));
  };
  for (const std::string& id : of_separated.queueing_joins) {
    add(bounds.queueing_joins, original_id(separated, id));
  }
  for (const std::string& id : of_separated.full_queues) {
    add(bounds.full_queues, original_id(separated, id));
  }
  for (const std::string& executor : of_separated.coarse) add(bounds.coarse, executor);
}

}  // namespace takt::analysis
