#include "activation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "takt/base/try.hpp"
#include "takt/curves/activation_curve.hpp"

namespace takt::merging {

namespace {

using model::Activation;
using model::MinDistanceActivation;
using model::PeriodicActivation;
using model::SporadicActivation;

const std::vector<Duration>* distances(const Activation& activation) {
  const auto* measured = std::get_if<MinDistanceActivation>(&activation);
  return measured == nullptr ? nullptr : &measured->values;
}

/// The time between activations in the long run, rounded down to 1 ns or more.
Duration separation(const Activation& activation) {
  if (const auto* values = distances(activation)) {
    return std::max(epsilon, values->back() / (static_cast<std::int64_t>(values->size()) - 1));
  }
  const auto* periodic = std::get_if<PeriodicActivation>(&activation);
  return periodic != nullptr ? periodic->period
                             : std::get<SporadicActivation>(activation).min_separation;
}

Duration given_jitter(const Activation& activation) {
  const auto* periodic = std::get_if<PeriodicActivation>(&activation);
  return periodic != nullptr ? periodic->jitter : std::get<SporadicActivation>(activation).jitter;
}

/// How much earlier than at multiples of `apart`, which is not above its own separation, an
/// activation may come.
Result<Duration> jitter(const Activation& activation, Duration apart) {
  const auto* values = distances(activation);
  if (values == nullptr) return given_jitter(activation);
  const auto gaps = static_cast<std::int64_t>(values->size()) - 1;
  if (values->back() < gaps * epsilon) {
    return error("activations that are less than 1 ns apart cannot be merged");
  }
  Duration most{};
  for (std::int64_t n = 0; n <= gaps; ++n) {
    most = std::max(most, n * apart - (*values)[static_cast<std::size_t>(n)]);
  }
  return most;
}

/// The number of gaps between activations whose span is above 0 and determines longer ones.
std::int64_t determining_gaps(const Activation& activation) {
  if (const auto* values = distances(activation)) {
    return static_cast<std::int64_t>(values->size()) - 1;
  }
  return given_jitter(activation) / separation(activation) + 1;
}

curves::ActivationCurve curve(const Activation& activation) {
  using curves::ActivationCurve;
  if (const auto* values = distances(activation)) return ActivationCurve::min_distance(*values);
  return ActivationCurve::periodic(separation(activation), given_jitter(activation));
}

/// The smaller of two super-additive functions is super-additive, and so is its continuation below
/// theirs.
MinDistanceActivation shorter_spans(const Activation& one, const Activation& other,
                                    std::int64_t gaps) {
  const curves::ActivationCurve a = curve(one);
  const curves::ActivationCurve b = curve(other);
  MinDistanceActivation merged;
  for (std::int64_t n = 1; n <= gaps + 1; ++n) {
    merged.values.push_back(std::min(a.distance(n), b.distance(n)));
  }
  return merged;
}

}  // namespace

Result<std::optional<Activation>> merged_activation(const std::optional<Activation>& one,
                                                    const std::optional<Activation>& other) {
  if (!one || !other || one == other) return one ? one : other;
  const std::int64_t gaps = std::max(determining_gaps(*one), determining_gaps(*other));
  const bool measured = distances(*one) != nullptr || distances(*other) != nullptr;
  // A model lists no more distances.
  if (measured && gaps < static_cast<std::int64_t>(curves::most_values)) {
    return shorter_spans(*one, *other, gaps);
  }
  const Duration apart = std::min(separation(*one), separation(*other));
  const Duration early = std::max(TAKT_TRY(jitter(*one, apart)), TAKT_TRY(jitter(*other, apart)));
  const auto is_periodic = [](const Activation& activation) {
    return std::holds_alternative<PeriodicActivation>(activation);
  };
  if (is_periodic(*one) && is_periodic(*other)) {
    return PeriodicActivation{.period = apart, .jitter = early};
  }
  return SporadicActivation{.min_separation = apart, .jitter = early};
}

}  // namespace takt::merging
