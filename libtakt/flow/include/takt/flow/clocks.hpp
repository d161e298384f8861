#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/statistics/lower_line.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

using events::HostIndex;

/// How well the difference between the clocks of two hosts is known.
enum class ClockQuality {
  reference,    ///< all times are converted to this clock
  accurate,     ///< messages went both ways and bound the difference from both sides
  approximate,  ///< the same, but a clock was set or its rate changed: they bound it piece by piece
  one_way,      ///< messages went one way only: the fastest is taken to have needed no time
  incoherent,   ///< a clock was set all the time: its times are nearly meaningless
  absent,       ///< no messages between them: the hosts' own offsets to the epoch are used
};

[[nodiscard]] std::string_view to_string(ClockQuality quality);

/// What a host's clock showed at times of the reference clock.
struct HostClock {
  struct Knot {
    Instant reference;
    Instant shown;
    /// How far `reference` can be from the truth, ns. Only if the quality is accurate or
    /// approximate.
    double uncertainty = 0;
  };

  ClockQuality quality = ClockQuality::absent;
  /// Neither time ever decreases. Between knots the clock is a straight line, and beyond them it
  /// goes on with its mean rate.
  std::vector<Knot> knots;
  /// The offset at the first knot, ns, and by how many ns it grows per ns, over all knots.
  double offset = 0;
  double drift = 0;
  /// Messages that the estimate rests on.
  std::uint64_t messages = 0;

  /// The reference's time when this clock shows `time`. Monotone. O(log knots).
  [[nodiscard]] Instant to_reference(Instant time) const;
  /// How far to_reference() can be from the true time; nothing if that is not known.
  [[nodiscard]] std::optional<Duration> uncertainty_at(Instant reference) const;
  /// The largest of them.
  [[nodiscard]] std::optional<Duration> widest_uncertainty() const;

 private:
  [[nodiscard]] bool is_bounded() const {
    return quality == ClockQuality::accurate || quality == ClockQuality::approximate;
  }
};

/// Estimates the difference of hosts' clocks from the messages between them (message-flow 3.2). A
/// message is received after it was sent, so those from the reference bound the other clock's
/// offset from above and those to it from below.
///
/// How far a bound holds depends on how much the offset may change meanwhile. Where one rate fits,
/// it is taken to stay within `most_wander` of it: the crystal's temperature changes it slowly.
/// Where none fits, the rate was changed (slewing) or the clock was set (a step), and the offsets
/// around that change are bounded with the largest rates that a clock has. The middle of both
/// bounds is taken, half the distance between them is the uncertainty. Memory is bounded.
class ClockEstimator {
 public:
  /// The crystal of a clock, and slewing, let it drift by no more than this.
  static constexpr double most_drift = 1e-3;
  /// The rate of a clock that nobody changes stays this near to its mean.
  static constexpr double most_wander = 3e-6;
  /// So many messages of each direction are kept at most, spread over time: the fastest of each
  /// part of it.
  static constexpr std::size_t most_points = 8192;

  /// A message was sent at a time of its sender's clock and received at one of its receiver's.
  void add(HostIndex from, Instant sent, HostIndex to, Instant received);

  /// One clock for each of `hosts` hosts; host 0 is the reference. Others are estimated against the
  /// one by which they are known best, along a spanning tree.
  [[nodiscard]] std::vector<HostClock> estimate(std::size_t hosts) const;

 private:
  using Point = statistics::Point;
  /// The points that bound the offset of a pair's second clock to its first (y), over the first's
  /// time (x): for each part of the time, the one nearest to a line with a slope.
  struct Pair {
    Instant origin;
    double width = 10e6;  // of a part, ns
    double slope = 0;
    std::map<std::int64_t, Point> above;
    std::map<std::int64_t, Point> below;
    std::uint64_t count = 0;
  };
  static void add(Pair& pair, Point point, bool is_above);
  static void widen(Pair& pair);
  static HostClock clock_of(const Pair& pair, bool inverse);
  static HostClock compose(const HostClock& near, const HostClock& far);

  std::map<std::pair<HostIndex, HostIndex>, Pair> pairs_;
};

}  // namespace takt::flow
