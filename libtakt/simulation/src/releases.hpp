#pragma once

#include <cstddef>
#include <optional>
#include <variant>
#include <vector>

#include "random.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/options.hpp"

namespace takt::simulation {

/// The activations of one callback that is activated from outside, one after the other.
class Releases {
 public:
  /// Follows the activation curve; `offset`: of the first, random if none by a random model.
  Releases(const model::Activation& activation, ReleaseModel model, std::optional<Duration> offset,
           Random random);

  /// At these instants.
  explicit Releases(std::vector<Duration> list);

  /// The next activation, never earlier than the one before; none: there are no more.
  std::optional<Instant> next();

  /// None: the pattern is not periodic.
  [[nodiscard]] std::optional<Duration> period() const;

  /// Leaves out expiries, so that the next is the first of the period's grid at or after `time`;
  /// returns how many. Only if there is a period().
  std::int64_t skip_until(Instant time);

 private:
  [[nodiscard]] Instant dense(const curves::ActivationCurve& curve);

  std::variant<model::PeriodicActivation, model::SporadicActivation, curves::ActivationCurve,
               std::vector<Duration>>
      pattern_;
  ReleaseModel model_ = ReleaseModel::synchronous;
  Instant offset_{};
  Random random_;
  /// How many have been given.
  std::int64_t given_ = 0;
  /// The last activation on the grid, before jitter, and as given.
  Instant nominal_{};
  Instant last_{};
  /// The last ones of a minimum-distance pattern, as many as its given values limit the next by.
  std::vector<Instant> recent_;
  std::size_t most_recent_ = 0;
};

}  // namespace takt::simulation
