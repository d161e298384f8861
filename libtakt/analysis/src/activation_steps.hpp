#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "derived_curve.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The steps of several curves up to some window, in one array: what a busy window of that length
/// can see of them. Many searches walk over the same steps, so they are enumerated once.
class ActivationSteps {
 public:
  /// A curve reaches `count` at the window `at`.
  struct Step {
    Duration at;
    std::int64_t count;
    std::size_t curve;
  };

  /// The curves are bounded, and `length` is below unbounded_time.
  ActivationSteps(std::vector<const DerivedCurve*> curves, Duration length);

  /// In ascending order of `at`; none if they are more than `most_steps`.
  [[nodiscard]] std::optional<std::span<const Step>> steps() const;
  [[nodiscard]] Duration length() const { return length_; }
  /// The number of a curve in Step::curve; found at once if it is `guess` or the next.
  [[nodiscard]] std::size_t index_of(const DerivedCurve* curve, std::size_t guess = 0) const;
  [[nodiscard]] std::size_t curves() const { return curves_.size(); }

  static constexpr std::int64_t most_steps = 1 << 20;

 private:
  std::vector<const DerivedCurve*> curves_;
  Duration length_;
  std::vector<Step> steps_;
  bool too_many_ = false;
};

}  // namespace takt::analysis
