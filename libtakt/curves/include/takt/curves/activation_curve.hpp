#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/curves/execution_time_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::curves {

/// η: the most activations in any half-open window of a given length (ros-llama S-1.6a), and its
/// pseudo-inverse δ: the shortest span that contains n consecutive activations. They determine each
/// other: η(Δ) = max{n : δ(n) < Δ} for Δ > 0, and η(Δ) = 0 for Δ <= 0.
///
/// A minimum-distance curve is continued by super-additivity (S-4.4.6, Def. 10); values beyond the
/// given ones are computed when first asked for and kept, so a curve must not be shared between
/// threads.
class ActivationCurve {
 public:
  /// ceil((Δ + jitter) / period): periodic and sporadic activations with release jitter.
  /// period > 0, jitter >= 0.
  [[nodiscard]] static ActivationCurve periodic(Duration period, Duration jitter);

  /// values[n - 1] = δ(n); 2 to `most_values` of at most longest_time, the first 0, the last > 0,
  /// monotone and super-additive in the sense δ(m) + δ(n) <= δ(m + n - 1).
  [[nodiscard]] static ActivationCurve min_distance(std::span<const Duration> values);

  /// η(window). O(1) for periodic curves, O(log n) otherwise.
  [[nodiscard]] std::int64_t count(Duration window) const {
    if (window <= Duration{0}) return 0;
    return gaps_.empty() ? count_periodic(window) : count_by_distance(window);
  }

  /// δ(n); 0 for n <= 1.
  [[nodiscard]] Duration distance(std::int64_t n) const {
    if (n <= 1) return Duration{0};
    if (n == unbounded_count) return unbounded_time;
    if (!gaps_.empty()) return span_of_gaps(n - 1);
    const Duration span = saturating_multiply(rate_.span, n - 1);
    return span == unbounded_time ? span : std::max(Duration{0}, span - rate_.jitter);
  }

  /// A level stretch of η: it is `count` in every window from the given one to `until`, which is
  /// unbounded_time when the end does not fit.
  struct Plateau {
    std::int64_t count = 0;
    Duration until{};
  };
  [[nodiscard]] Plateau plateau(Duration window) const {
    if (window <= Duration{0}) return {};
    if (!gaps_.empty()) return plateau_by_distance(window);
    const std::int64_t events = count_periodic(window);
    const Duration until = saturating_multiply(rate_.span, events);
    return {events, until == unbounded_time ? until : until - rate_.jitter};
  }

  /// The least window longer than `window` at which η steps up; unbounded_time when it does not
  /// fit.
  [[nodiscard]] Duration next_step(Duration window) const {
    return saturating_add(plateau(window).until, epsilon);
  }

  /// η(Δ) >= (Δ + jitter)·events/span for Δ > 0, and η(Δ)/Δ tends to events/span.
  struct Rate {
    std::int64_t events = 1;
    Duration span{1};
    Duration jitter{0};
  };
  [[nodiscard]] Rate long_run() const { return rate_; }
  /// Whether it is ceil((Δ + jitter) / span) everywhere.
  [[nodiscard]] bool is_periodic() const { return gaps_.empty(); }
  /// The curve repeats from this many activations on: δ(n + events) = δ(n) + span, with events and
  /// span as in long_run().
  [[nodiscard]] std::int64_t repeats_from() const {
    return gaps_.empty() ? rate_.jitter / rate_.span + 2 : static_cast<std::int64_t>(longest_) + 1;
  }

 private:
  ActivationCurve() = default;
  [[nodiscard]] std::int64_t count_periodic(Duration window) const {
    const Duration reach = saturating_add(window, rate_.jitter);
    return reach == unbounded_time ? unbounded_count : (reach - epsilon) / rate_.span + 1;
  }
  [[nodiscard]] std::int64_t count_by_distance(Duration window) const {
    return plateau_by_distance(window).count;
  }
  [[nodiscard]] Plateau plateau_by_distance(Duration window) const;
  [[nodiscard]] Duration span_of_gaps(std::int64_t gaps) const;

  Rate rate_;
  std::size_t given_ = 0;    // gaps given by the values of a minimum-distance curve
  std::size_t longest_ = 0;  // gaps after which it repeats
  /// gaps_[k] = δ(k + 1), the span of k gaps; empty for periodic curves.
  mutable std::vector<Duration> gaps_;
};

/// The first pair (m, n), m, n >= 2, with δ(m) + δ(n) > δ(m + n - 1), if any.
/// values[n - 1] = δ(n). O(N²).
[[nodiscard]] std::optional<SplitViolation> find_super_additivity_violation(
    std::span<const Duration> values);

}  // namespace takt::curves
