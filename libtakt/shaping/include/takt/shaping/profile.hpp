#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

/// Latency shaping: when within its period the output of a chain is let out, so that its latency
/// takes a few values only (performance-engineering, section 3). All times count from the beginning
/// of a cycle, which is when the chain's first callback is activated.
namespace takt::shaping {

/// The latencies of a chain that were observed while it ran at high priority: the empirical
/// distribution φ of performance-engineering 3.7.
class Profile {
 public:
  /// Takes them in any order, O(n log n). Error: there is none, or one is not positive.
  [[nodiscard]] static Result<Profile> of(std::vector<Duration> latencies);

  [[nodiscard]] std::size_t count() const { return sorted_.size(); }
  [[nodiscard]] Duration min() const { return sorted_.front(); }
  [[nodiscard]] Duration max() const { return sorted_.back(); }
  /// Nanoseconds.
  [[nodiscard]] double mean() const;
  /// How many are at most `latency`. O(log n).
  [[nodiscard]] std::size_t at_most(Duration latency) const;
  /// The least latency that at least the share q does not exceed; 0 <= q <= 1.
  [[nodiscard]] Duration quantile(double q) const;
  /// Ascending.
  [[nodiscard]] const std::vector<Duration>& latencies() const { return sorted_; }

 private:
  explicit Profile(std::vector<Duration> sorted) : sorted_(std::move(sorted)) {}

  std::vector<Duration> sorted_;
};

/// How far the true distribution may be below the observed one anywhere, except with the
/// probability 1 - confidence: sqrt(ln(1 / (1 - confidence)) / 2n) (Massart, "The tight constant in
/// the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability 1990). count >= 1, 0.5 <=
/// confidence < 1.
[[nodiscard]] double confidence_band(std::size_t count, double confidence);

/// The share of executions that may be longer than the longest of `count` independent ones, except
/// with the probability 1 - confidence: the p with (1 - p)^count = 1 - confidence.
[[nodiscard]] double share_beyond(std::size_t count, double confidence);

}  // namespace takt::shaping
