#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// A bound on the response time of a callback: from activation to completion of any instance.
struct CallbackBound {
  std::string id;
  /// None: there is no bound, and `reason` says why.
  std::optional<Duration> bound;
  /// The analysis that gave the bound.
  std::string by;
  std::string reason;
  bool operator==(const CallbackBound&) const = default;
};

/// A bound on the time of a message on a link: from its publication to the arrival of its last
/// chunk.
struct LinkBound {
  std::string link;
  std::string from;
  std::string topic;
  std::vector<std::string> to;
  std::optional<Duration> bound;
  std::string by;
  std::string reason;
  bool operator==(const LinkBound&) const = default;
};

/// Consecutive callbacks of a chain on one executor.
struct Segment {
  std::string executor;
  std::vector<std::string> callbacks;
  /// From the activation of the first to the completion of the last callback.
  std::optional<Duration> bound;
  std::string by;
  /// Longest time of the message from the previous segment to this one, its link included.
  Duration delay{};
  /// Longest time that a message waits for a timer that samples it; 0 if it activates the segment.
  Duration sampling{};
  /// Whether that holds only for the phases of timers in the model.
  bool by_phases = false;
  bool operator==(const Segment&) const = default;
};

struct ChainBound {
  std::string id;
  /// Which time `bound` and `goal` are about.
  model::GoalKind kind = model::GoalKind::latency;
  /// The bound of that time. Of a latency, from the activation of the first callback to the
  /// completion of the last, it is the sum of all segments with their delays and samplings.
  std::optional<Duration> bound;
  std::string reason;
  std::optional<Duration> goal;
  std::vector<Segment> segments;
  /// From an input at any instant to the first output of the last callback that is based on it or
  /// on a newer one. If the first callback is a timer, it reads the input at its next activation.
  std::optional<Duration> reaction_time;
  std::string reaction_time_reason;
  /// At any output of the last callback: the time since the activation of the first callback that
  /// read the input on which the output is based.
  std::optional<Duration> data_age;
  std::string data_age_reason;

  /// Whether the goal is met; none if there is no goal.
  [[nodiscard]] std::optional<bool> met() const {
    if (!goal) return std::nullopt;
    return bound && *bound <= *goal;
  }
  bool operator==(const ChainBound&) const = default;
};

/// The results of analyze(), in the order of the model.
struct Bounds {
  std::string analysis;
  std::string model;
  /// Whether every callback has a bound.
  bool converged = false;
  /// Wall-clock time of the analysis.
  double seconds = 0;
  Duration horizon{};
  /// How many steps the searches took (see Options::effort); after a change, those for the change.
  std::int64_t steps = 0;
  /// The ids of the executors for whose own analysis the allowed steps did not suffice.
  std::vector<std::string> coarse;
  /// The executors of several callbacks whose schedules were to be explored and were not: they keep
  /// the bounds found before.
  struct Unexplored {
    std::string executor;
    std::string reason;
    bool operator==(const Unexplored&) const = default;
  };
  std::vector<Unexplored> unexplored;
  /// Whether some bounds hold only for the phases of timers in the model.
  bool depends_on_phases = false;
  /// The ids of callbacks that join, and at which messages may wait as no bound counts them: what
  /// depends on them has no guarantee.
  std::vector<std::string> queueing_joins;
  /// The ids of callbacks whose queues may be full when a message comes: some are lost, and bounds
  /// are of those that are not.
  std::vector<std::string> full_queues;
  std::vector<CallbackBound> callbacks;
  std::vector<ChainBound> chains;
  std::vector<LinkBound> links;

  /// The `takt/bounds` version 1 document.
  [[nodiscard]] std::string to_json() const;
};

}  // namespace takt::analysis
