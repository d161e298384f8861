#pragma once

#include <cstdint>
#include <string_view>

namespace takt::estimation {

/// Why a filter did not do what it was asked to. The belief is then what it was before the call. A
/// step whose update is refused keeps its prediction, and `diverged` gives all particles the same
/// weight.
enum class Refusal : std::uint8_t {
  none,
  wrong_size,                 // a vector or matrix does not fit the others
  not_finite,                 // an infinite number, or a NaN other than in a measurement
  not_positive_semidefinite,  // a covariance that is none
  singular_innovation,        // measurements that say the same without noise
  spread_not_positive,        // n + lambda <= 0 in an unscented filter
  no_particles,               // a particle filter without particles
  diverged,                   // no particle explains the measurement
  too_old,                    // a delayed measurement from before what is remembered
  in_the_future,              // a measurement of a step that has not been made
  already_measured,           // a second measurement of the same quantity and step
  handing_over,               // the filter is being loaded by another thread
  samples_lost,               // loading the filter took longer than samples can wait
};

/// The name, and a sentence for people.
[[nodiscard]] std::string_view to_string(Refusal refusal);
[[nodiscard]] std::string_view explain(Refusal refusal);

/// The result of one step or update.
struct Outcome {
  Refusal refusal = Refusal::none;
  /// How many components of the measurement were used; those that are NaN are missing.
  int used = 0;
  /// The normalised innovation squared of the components used: chi-square with `used` degrees of
  /// freedom if the model is right. 0 for a particle filter.
  double innovation = 0;
  /// The covariance had lost its definiteness by rounding, and was mended by a small diagonal.
  bool mended = false;

  [[nodiscard]] bool ok() const { return refusal == Refusal::none; }
};

}  // namespace takt::estimation
