#include "links.hpp"

#include <set>
#include <utility>

namespace takt::analysis {

Bounds without_hops(Bounds bounds, const hops::ModelWithHops& linked,
                    const model::Model& original) {
  std::set<std::string> hops;
  bounds.links.clear();
  for (std::size_t i = 0; i < linked.hops.size(); ++i) {
    const hops::Hop& hop = linked.hops[i];
    CallbackBound& bound = bounds.callbacks[linked.callbacks + i];
    LinkBound& link = bounds.links.emplace_back();
    link.link = original[hop.link].id;
    link.from = original[hop.from].id;
    link.topic = hop.topic;
    for (const model::CallbackIndex to : hop.to) link.to.push_back(original[to].id);
    link.bound = bound.bound;
    link.by = std::move(bound.by);
    link.reason = std::move(bound.reason);
    hops.insert(std::move(bound.id));
  }
  bounds.callbacks.resize(linked.callbacks);
  for (ChainBound& chain : bounds.chains) {
    std::vector<Segment> segments;
    Duration on_link{0};
    for (Segment& segment : chain.segments) {
      if (hops.contains(segment.callbacks.front())) {
        // Without a bound the chain has none either, and says why.
        on_link = segment.delay + segment.bound.value_or(Duration{0});
        continue;
      }
      segment.delay += std::exchange(on_link, Duration{0});
      segments.push_back(std::move(segment));
    }
    chain.segments = std::move(segments);
  }
  return bounds;
}

}  // namespace takt::analysis
