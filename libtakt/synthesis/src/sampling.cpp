#include "sampling.hpp"

#include <algorithm>
#include <set>

namespace takt::synthesis {
namespace {

using execution::Objects;
using links::Link;

/// The timers that read what `input` stores.
std::set<ObservedCallbackIndex> readers_of(const Observations& observations, const Objects& objects,
                                           const Link& link, ObservedCallbackIndex input) {
  if (link.reader) return {*link.reader};
  std::set<ObservedCallbackIndex> readers;
  const auto node = objects.node_of(objects[input]);
  for (const execution::Timer& timer : objects.timers) {
    const auto publishes = [&](execution::PublisherIndex output) {
      return observations.outputs().contains({timer.callback, objects[output].topic});
    };
    if (node && timer.node == node && std::ranges::any_of(link.outputs, publishes)) {
      readers.insert(timer.callback);
    }
  }
  return readers;
}

}  // namespace

std::vector<SampledInput> find_sampled_inputs(const Observations& observations,
                                              const Objects& objects, std::span<const Link> links) {
  std::vector<SampledInput> found;
  for (const Link& link : links) {
    if (link.kind != Link::Kind::sampled) continue;
    for (std::size_t i = 0; i < link.inputs.size(); ++i) {
      const auto confidence =
          link.confidence.empty() ? std::nullopt : std::optional(link.confidence[i]);
      for (const auto timer : readers_of(observations, objects, link, link.inputs[i])) {
        found.push_back({link.inputs[i], timer, confidence});
      }
    }
  }
  return found;
}

}  // namespace takt::synthesis
