#pragma once

#include <cstddef>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::execution {

/// The measured curves cover up to this many consecutive instances: L of ros-llama S-4.4.5.
inline constexpr std::size_t curve_length = 64;

/// The largest cost of any n consecutive instances, n up to curve_length (ros-llama S-4.4.5,
/// Algorithm 1). Monotone and sub-additive by construction, as every window of m + n instances is
/// one of m and one of n.
class CostCurve {
 public:
  /// Adds the next instance's cost (negative ones count as 0). O(curve_length).
  void add(Duration cost, Instant when = {});

  /// values()[n - 1] is the largest cost of n consecutive instances.
  [[nodiscard]] std::vector<Duration> values() const;
  /// The same of instances among which the one of the largest cost is not. Sub-additive, too; it
  /// may be shorter.
  [[nodiscard]] const std::vector<Duration>& values_without_largest() const { return without_; }
  /// The largest cost of an instance, the first of equal ones, and its time. There must be one.
  [[nodiscard]] Duration largest() const { return largest_; }
  [[nodiscard]] Instant time_of_largest() const { return time_of_largest_; }
  [[nodiscard]] bool empty() const { return window_.empty(); }

 private:
  std::vector<Duration> window_;  // a ring
  std::size_t next_ = 0;
  /// The largest costs of those windows that hold the instance of the largest cost, and of the
  /// others.
  std::vector<Duration> with_;
  std::vector<Duration> without_;
  Duration largest_{};
  Instant time_of_largest_;
  /// Instances since that one.
  std::size_t since_ = 0;
};

/// The shortest span that holds n consecutive activations, n up to curve_length (ros-llama S-4.4.6,
/// Algorithm 2). Monotone and super-additive by construction.
class DistanceCurve {
 public:
  /// Adds the next activation; one before the last counts as simultaneous. O(curve_length).
  void add(Instant activation);
  /// The same for an activation of which only two limits are known: spans are those from the
  /// earlier limit of the first to the later limit of the last.
  void add(Instant earliest, Instant latest);

  /// values()[n - 1] is the shortest span of n consecutive activations; values()[0] is 0.
  [[nodiscard]] std::vector<Duration> values() const;

  /// The values, completed by what an observation of this length shows: no window of that length
  /// held more activations than were added. Ends with a positive value, as models need. Empty if
  /// there was no activation.
  [[nodiscard]] std::vector<Duration> bounded_by(Duration observed) const;
  /// The same of spans that do not hold the shortest time between two activations. Empty if there
  /// are none of two activations.
  [[nodiscard]] std::vector<Duration> bounded_without_shortest(Duration observed) const;
  /// When the later one of these two came.
  [[nodiscard]] Instant time_of_shortest() const { return time_of_shortest_; }

 private:
  std::vector<Instant> window_;  // a ring
  std::size_t next_ = 0;
  /// The shortest spans of those windows that hold the shortest time between two activations, and
  /// of the others; Duration::max(): none yet.
  std::vector<Duration> with_;
  std::vector<Duration> without_;
  Duration shortest_ = Duration::max();
  Instant time_of_shortest_;
  /// Activations since then.
  std::size_t since_ = 0;
};

}  // namespace takt::execution
