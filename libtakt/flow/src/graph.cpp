#include "takt/flow/graph.hpp"

#include "transforms.hpp"

namespace takt::flow {
namespace {

using Kind = Segment::Kind;

Kind kind_of(LinkKind link) {
  return link == LinkKind::periodic_async ? Kind::periodic_async : Kind::partial_sync;
}

template <typename Next>
std::set<Segment> reach(const Segment& seed, Next next) {
  std::set<Segment> found{seed};
  std::vector<Segment> frontier{seed};
  while (!frontier.empty()) {
    const Segment current = frontier.back();
    frontier.pop_back();
    for (const Segment& other : next(current)) {
      if (found.insert(other).second) {
        frontier.push_back(other);
      }
    }
  }
  return found;
}

}  // namespace

Segment FlowGraph::callback(InstanceId run) const {
  const bool is_timer = objects_[history_.store().find(run)->callback].timer.has_value();
  return {is_timer ? Kind::timer_callback : Kind::subscription_callback, run, PublicationId::none};
}

bool FlowGraph::is_own_transform(PublicationId message, InstanceId receiver) const {
  return flow::is_own_transform(objects_, *history_.store().find(message),
                                *history_.store().find(receiver));
}

std::vector<Segment> FlowGraph::successors(const Segment& segment) const {
  std::vector<Segment> next;
  switch (segment.kind) {
    case Kind::timer_callback:
    case Kind::subscription_callback: {
      std::vector<std::pair<PublicationId, LinkKind>> outputs;
      causality_.outputs(segment.run, outputs);
      for (const auto& [message, link] : outputs) {
        if (link == LinkKind::direct) {
          next.push_back({Kind::publication, InstanceId::none, message});
        } else {
          next.push_back({kind_of(link), segment.run, message});
        }
      }
      break;
    }
    case Kind::publication:
      for (const InstanceId receiver : history_.receivers_of(segment.message)) {
        if (!is_own_transform(segment.message, receiver)) {
          next.push_back({Kind::transport, receiver, segment.message});
        }
      }
      break;
    case Kind::transport:
      next.push_back(callback(segment.run));
      break;
    case Kind::periodic_async:
    case Kind::partial_sync:
      next.push_back({Kind::publication, InstanceId::none, segment.message});
      break;
  }
  return next;
}

std::vector<Segment> FlowGraph::predecessors(const Segment& segment) const {
  std::vector<Segment> before;
  const Store& store = history_.store();
  switch (segment.kind) {
    case Kind::timer_callback:
      break;
    case Kind::subscription_callback: {
      const PublicationId source = store.find(segment.run)->source;
      if (store.find(source) != nullptr && !is_own_transform(source, segment.run)) {
        before.push_back({Kind::transport, segment.run, source});
      }
      break;
    }
    case Kind::publication: {
      std::vector<Input> inputs;
      causality_.inputs(segment.message, inputs);
      for (const Input& input : inputs) {
        before.push_back(input.kind == LinkKind::direct
                             ? callback(input.run)
                             : Segment{kind_of(input.kind), input.run, segment.message});
      }
      break;
    }
    case Kind::transport:
      before.push_back({Kind::publication, InstanceId::none, segment.message});
      break;
    case Kind::periodic_async:
    case Kind::partial_sync:
      before.push_back(callback(segment.run));
      break;
  }
  return before;
}

std::set<Segment> FlowGraph::forwards(const Segment& seed) const {
  return reach(seed, [this](const Segment& segment) { return successors(segment); });
}

std::set<Segment> FlowGraph::backwards(const Segment& seed) const {
  return reach(seed, [this](const Segment& segment) { return predecessors(segment); });
}

}  // namespace takt::flow
