#pragma once

#include <cstdint>
#include <vector>

#include "busy_window.hpp"
#include "growing_count.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The longest response time in the busy windows of a victim, by one pass over activation offsets
/// of the search space (ros-llama S-3.4.1) in ascending order.
///
/// Starts and completions do not decrease with the offset, so the pass follows two fronts through
/// the curves: the offset, where the victim's own instances and the limits of others grow, and the
/// start found so far, up to which others are activated. One of the others that runs as often as
/// its limit admits waits for the first front, any other one for the second; only where a front
/// comes to what waits for it does the demand change, and only offsets at which it does can have a
/// longer response than those before.
class OffsetSweep {
 public:
  explicit OffsetSweep(const curves::SupplyBound& supply) : supply_(&supply) {}

  /// A new pass, in busy windows of that length.
  void begin(Duration blocking, const Interferer& self, Duration length);
  void add(const Interferer& other);

  /// Goes on until a response of at least `enough` is found, or to the end. Returns the longest
  /// response so far.
  Duration longest_response(Duration enough);

  /// From now on limits admit so many more instances. Not once the pass has left the first offset.
  void admit(std::int64_t more);
  [[nodiscard]] bool at_first_offset() const { return offset_ == Duration{0}; }

  /// A start lies beyond the busy window, or there are more than `most_offsets`: there is no end.
  [[nodiscard]] bool failed() const { return failed_; }

  static constexpr int most_offsets = 1 << 16;

 private:
  struct Other {
    const Cost* cost;
    /// Before the start.
    GrowingCount activated;
    /// Its limit: those up to the offset plus `reach`, and so many more; it is brought up to date
    /// when it is reached. Without limit it is unbounded_count.
    GrowingCount within_reach;
    Duration reach{};
    std::int64_t extra = 0;
    std::int64_t most = curves::unbounded_count;
    /// The processor time that it demands, and how far start and offset may go with the same.
    Duration demand{};
    Duration start_until{-1};
    Duration offset_until = curves::unbounded_time;
  };

  void count_own();
  void count(Other& other);
  void advance_start();

  const curves::SupplyBound* supply_;
  Interferer self_;
  Duration length_{};
  std::vector<Other> others_;

  Duration offset_{};
  Duration start_{};
  Duration demand_{};
  Duration own_demand_{};
  Duration last_cost_{};
  Duration own_until_{};
  /// The demand with the victim's instance at the latest offset at which it was met.
  Duration met_{};
  Duration longest_{};
  int offsets_ = 0;
  bool failed_ = false;
};

}  // namespace takt::analysis
