#pragma once

#include <cstdint>
#include <vector>

#include "takt/flow/paths.hpp"

namespace takt::flow {

/// Converts a step to its key in the tree of paths, and back.
[[nodiscard]] std::uint32_t key_of(const Step& step);
[[nodiscard]] Step step_of(std::uint32_t key);

/// Goes back from a sink to all of its sources.
class PathCollector::Walk {
 public:
  Walk(PathCollector& collector, const LinkedHistory& recorded, const Ends& ends);

  /// Follows all ways to the start of a run.
  void from_run(InstanceId sink);
  /// Follows all ways to a message.
  void from_message(PublicationId sink);

 private:
  template <typename Follow>
  void from(PublicationId last, std::uint64_t number, Follow follow);
  /// Counts a step back. Returns whether there may be another one on the ways to this sink.
  bool step();
  [[nodiscard]] bool may_pass(execution::ObservedCallbackIndex callback) const;
  void before_run(InstanceId run, LinkKind kind, std::uint32_t node);
  void before_message(PublicationId message, std::uint32_t node);
  void begin_at(const Hop& source, std::uint32_t node);
  void begin_at_sender(PublicationId message, std::uint32_t node);

  PathCollector& collector_;
  const LinkedHistory& recorded_;
  const History& history_;
  const execution::Objects& objects_;
  const Ends& ends_;
  /// From the sink back.
  std::vector<Hop> hops_;
  std::vector<execution::ObservedCallbackIndex> passed_;
  /// The inputs of each message on the way.
  std::vector<std::vector<Input>> inputs_;
  std::size_t depth_ = 0;
  PublicationId last_ = PublicationId::none;
  std::uint64_t number_ = 0;
  std::size_t ways_ = 0;
  std::size_t steps_ = 0;
  /// The joins on the way of which it is not known which message they used.
  std::size_t uncertain_ = 0;
  bool met_uncertain_ = false;
  bool takes_oldest_ = false;
};

}  // namespace takt::flow
