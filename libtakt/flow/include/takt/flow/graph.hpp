#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "takt/flow/causality.hpp"

namespace takt::flow {

/// An edge of the message flow graph: a segment of time (message-flow 3.6).
struct Segment {
  enum class Kind : std::uint8_t {
    timer_callback,
    subscription_callback,  ///< also that of a service
    publication,
    transport,
    periodic_async,
    partial_sync,
  };
  Kind kind = Kind::publication;
  /// The callback's run, the run that receives a transport, or the run at which a link begins.
  InstanceId run = InstanceId::none;
  /// The publication, the message that is transported, or the message at which a link ends.
  PublicationId message = PublicationId::none;

  auto operator<=>(const Segment&) const = default;
};

/// The message flow graph of a history. It is acyclic, as links lead forwards in time.
class FlowGraph {
 public:
  FlowGraph(const History& history, const execution::Objects& objects, const Causality& causality)
      : history_(history), objects_(objects), causality_(causality) {}

  [[nodiscard]] Segment callback(InstanceId run) const;
  [[nodiscard]] std::vector<Segment> successors(const Segment& segment) const;
  [[nodiscard]] std::vector<Segment> predecessors(const Segment& segment) const;

  /// Everything that the segment led to, and everything that led to it; both with the segment.
  /// O(size of the result · log runs).
  [[nodiscard]] std::set<Segment> forwards(const Segment& seed) const;
  [[nodiscard]] std::set<Segment> backwards(const Segment& seed) const;

 private:
  [[nodiscard]] bool is_own_transform(PublicationId message, InstanceId receiver) const;

  const History& history_;
  const execution::Objects& objects_;
  const Causality& causality_;
};

}  // namespace takt::flow
