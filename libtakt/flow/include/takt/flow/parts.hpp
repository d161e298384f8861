#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "takt/flow/causality.hpp"
#include "takt/flow/part_splitter.hpp"
#include "takt/flow/stages.hpp"
#include "takt/flow/thread_states.hpp"

namespace takt::flow {

using Part = BasicPart<InstanceId>;

/// A run on a path, and how the flow got there.
struct Hop {
  /// The message that it handled; none if that is not in the trace. The message that a root sent is
  /// that of the next hop.
  PublicationId message = PublicationId::none;
  /// None for a root that is a message sent outside of callbacks.
  InstanceId run = InstanceId::none;
  /// The kind of link to the next hop's message; direct if this run sent that message.
  LinkKind kind = LinkKind::direct;
};

/// One instance of a flow: the runs from its source to its sink.
struct Trail {
  std::vector<Hop> hops;
  /// The message with which it ends; none: it ends with a run.
  PublicationId last = PublicationId::none;
  /// It is not known which message a join used: this is the newest possible one, or the oldest.
  bool is_uncertain = false;
  bool is_oldest = false;
};

/// The time of a flow in parts that follow one another without a gap, so that they add up to it.
struct Breakdown {
  /// From the start of the source's run to the end of the sink's.
  std::vector<Part> parts;
  /// The parts from `first` to one before `last` go from the source's message to the start of the
  /// sink's run: they are the flow's latency.
  std::size_t first = 0;
  std::size_t last = 0;
  /// How much of the time from begin to end is left out, because no subscription was there yet that
  /// could read the message.
  Duration before_readers{};

  [[nodiscard]] Duration latency() const;
  [[nodiscard]] Duration span() const;
  [[nodiscard]] std::array<Duration, stages> sums() const;
};

/// Splits the time of a flow into runs and waits, see PartSplitter. A message that is stored for a
/// timer waits until the timer is due, and then in the executor. One that is stored for another
/// input waits until that was sent, and then as long as that was on its way. A run lasts until it
/// calls publish.
class Splitter {
 public:
  Splitter(const History& history, const execution::Database& database, const ThreadStates& states);

  [[nodiscard]] Breakdown split(const Trail& trail) const;

  /// What PartSplitter reads.
  using RunId = InstanceId;
  [[nodiscard]] std::span<const RunId> overlapping(execution::ThreadIndex thread, Instant begin,
                                                   Instant end) const {
    return history_.overlapping(thread, begin, end);
  }
  [[nodiscard]] Instant start(RunId run) const { return history_.store().find(run)->start; }
  [[nodiscard]] Instant end(RunId run) const { return history_.store().find(run)->end; }
  [[nodiscard]] std::vector<Off> off(execution::ThreadIndex thread, Instant begin,
                                     Instant end) const {
    return states_.off(thread, begin, end);
  }
  [[nodiscard]] Idle idle(RunId run) const { return history_.store().idle(run); }
  [[nodiscard]] std::span<const execution::ThreadIndex> peers(execution::ThreadIndex thread) const {
    return peers_[thread];
  }

 private:
  using Cursor = PartSplitter<Splitter>;

  [[nodiscard]] static std::optional<Cursor::Sent> sent(const Message* message);
  /// When a timer's run was due.
  [[nodiscard]] Instant due(const Run& run) const;
  [[nodiscard]] Arrival arrival(InstanceId id, const Run& run, const Message* message) const;
  void add_reading(Cursor& cursor, const Hop& hop, const Run& reader) const;
  void add_delivery(Cursor& cursor, const Hop& hop) const;
  void add_stored(Cursor& cursor, const Hop& hop, const Message& next) const;

  const History& history_;
  const execution::Database& database_;
  const ThreadStates& states_;
  Peers peers_;
};

}  // namespace takt::flow
