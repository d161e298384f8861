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
  reference,  ///< all times are converted to this clock
  accurate,   ///< messages went both ways and bound the difference from both sides
  one_way,    ///< messages went one way only: the fastest is taken to have needed no time
  absent,     ///< no messages between them: the hosts' own offsets to the epoch are used
};

[[nodiscard]] std::string_view to_string(ClockQuality quality);

/// The offset of a host's clock to the reference clock, as a straight line over the reference's
/// time, and the bounds of the offset.
struct HostClock {
  ClockQuality quality = ClockQuality::absent;
  /// The offset at the reference's time `origin`, and by how many ns it grows per ns.
  Instant origin;
  double offset = 0;
  double drift = 0;
  /// How far the offset can be from the line, at times that divide `origin` to `last` into equal
  /// parts. Empty unless the clock is accurate.
  std::vector<double> uncertainty;
  Instant last;
  /// Messages that the estimate rests on.
  std::uint64_t messages = 0;

  /// The reference's time when this clock shows `time`. Monotone.
  [[nodiscard]] Instant to_reference(Instant time) const;
  /// How far to_reference() can be from the true time; nothing if that is not known.
  [[nodiscard]] std::optional<Duration> uncertainty_at(Instant reference) const;
};

/// Estimates offset and drift of hosts' clocks from the messages between them: the convex-hull
/// method (message-flow 3.2). A message is received after it was sent, so those from the reference
/// bound the other clock's offset from above and those to it from below; every straight line
/// between both hulls is possible. The middle of the steepest and the flattest is taken, and the
/// width of all of them is the uncertainty. Memory is bounded by the hulls.
class ClockEstimator {
 public:
  /// The crystal of a clock drifts by no more than this.
  static constexpr double most_drift = 1e-3;

  /// A message was sent at a time of its sender's clock and received at one of its receiver's.
  void add(HostIndex from, Instant sent, HostIndex to, Instant received);

  /// One clock for each of `hosts` hosts; host 0 is the reference. Others are estimated against the
  /// one by which they are known best, along a spanning tree.
  [[nodiscard]] std::vector<HostClock> estimate(std::size_t hosts) const;

 private:
  using Point = statistics::Point;
  /// The points that bound the offset of a pair's second clock to its first (y), over the first's
  /// time (x).
  struct Pair {
    Instant origin;
    std::vector<Point> above;
    std::vector<Point> below;
    std::uint64_t count = 0;
  };
  static void add(std::vector<Point>& points, Point point, bool is_above);
  static std::vector<Point> hull(std::vector<Point> points, bool is_above);
  static HostClock line(const Pair& pair, bool inverse);
  static HostClock compose(const HostClock& near, const HostClock& far);

  std::map<std::pair<HostIndex, HostIndex>, Pair> pairs_;
};

}  // namespace takt::flow
