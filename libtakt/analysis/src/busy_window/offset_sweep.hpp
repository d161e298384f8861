#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "busy_window/busy_window.hpp"
#include "takt/curves/growing_count.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The longest response time in the busy windows of a victim, by one pass over activation offsets
/// of the search space (ros-llama S-3.4.1) in ascending order.
///
/// Starts and completions do not decrease with the offset, so the pass follows two positions
/// through the curves: the offset, with which the victim's own instances and the limits of others
/// grow, and the start found so far, up to which others are activated. For a callback that already
/// runs as often as its limit admits, only the offset matters; for any other one only the start.
/// The demand changes only where one of the two positions passes a step of such a curve, and only
/// offsets at which the demand changes can have a longer response than those before.
class OffsetSweep {
 public:
  OffsetSweep(const curves::SupplyBound& supply, Effort& effort)
      : supply_(&supply), effort_(&effort) {}

  /// Begins a new pass, in busy windows of that length. `before_decision`, `while_last`: see
  /// BusyWindow.
  void begin(Blockers blockers, const Interferer& self, Duration length,
             Duration before_decision = Duration{0}, Duration while_last = Duration{0});
  /// Reserves memory for this many others.
  void reserve(std::size_t others) { others_.reserve(others); }
  void add(const Interferer& other);

  /// Goes on until it finds a response of at least `enough`, or to the end. Returns the longest
  /// response so far.
  LongestResponse longest_response(Duration enough);

  /// Raises all limits by `more` instances. Allowed only while the pass is at the first offset.
  void admit(std::int64_t more);
  [[nodiscard]] bool at_first_offset() const { return offset_ == Duration{0}; }

  /// Whether the pass was given up: a start lies beyond the busy window, or there are more than
  /// `most_offsets`.
  [[nodiscard]] bool failed() const { return failed_; }

  static constexpr int most_offsets = 1 << 16;

 private:
  struct Other {
    Other(const Cost* cost_of_each, const curves::DerivedCurve& activations)
        : cost(cost_of_each), activated(activations), within_reach(activations) {}

    const Cost* cost;
    /// Instances activated before the start.
    curves::GrowingCount activated;
    /// `most` is its limit: the instances activated up to the offset plus `reach`, and `extra`
    /// more. It is counted again only when it is reached. Without limit it is unbounded_count.
    curves::GrowingCount within_reach;
    Duration reach{};
    std::int64_t extra = 0;
    std::int64_t most = curves::unbounded_count;
    /// The processor time that it demands, and up to which start and offset this stays the same.
    Duration demand{};
    Duration start_until{-1};
    Duration offset_until = curves::unbounded_time;
  };

  void count_blocking();
  void count_own();
  void count(Other& other);
  void advance_start();

  const curves::SupplyBound* supply_;
  Effort* effort_;
  Interferer self_;
  Duration length_{};
  Duration before_decision_{};
  Duration while_last_{};
  Blockers blockers_;
  std::vector<Other> others_;

  Duration offset_{};
  Duration start_{};
  Duration demand_{};
  Duration blocking_{};
  Duration blocking_until_{};
  Duration own_demand_{};
  Duration last_cost_{};
  Duration own_until_{};
  /// The demand, with that of the victim's instance, for which a response was last computed.
  Duration met_{};
  LongestResponse longest_;
  int offsets_ = 0;
  bool failed_ = false;
};

}  // namespace takt::analysis
