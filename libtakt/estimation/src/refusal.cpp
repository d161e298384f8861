#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

namespace {

struct Words {
  std::string_view name;
  std::string_view sentence;
};

Words words(Refusal refusal) {
  switch (refusal) {
    case Refusal::none:
      return {"none", "nothing was refused"};
    case Refusal::wrong_size:
      return {"wrong_size", "a vector or matrix has the wrong size"};
    case Refusal::not_finite:
      return {"not_finite", "a number is infinite or not a number"};
    case Refusal::not_positive_semidefinite:
      return {"not_positive_semidefinite",
              "a covariance is not symmetric and positive semi-definite"};
    case Refusal::singular_innovation:
      return {"singular_innovation", "the covariance of the innovation is singular"};
    case Refusal::spread_not_positive:
      return {"spread_not_positive", "n + lambda = alpha^2 (n + kappa) is not above 0"};
    case Refusal::no_particles:
      return {"no_particles", "a particle filter needs at least one particle"};
    case Refusal::diverged:
      return {"diverged", "no particle explains the measurement; all weigh the same now"};
    case Refusal::too_old:
      return {"too_old", "the measurement is older than what the filter remembers"};
    case Refusal::in_the_future:
      return {"in_the_future", "the measurement belongs to a step that has not been made"};
    case Refusal::already_measured:
      return {"already_measured", "that step already has a measurement of this quantity"};
    case Refusal::handing_over:
      return {"handing_over", "a hand-over is under way"};
    case Refusal::samples_lost:
      return {"samples_lost", "loading the filter took longer than samples can wait"};
  }
  return {"unknown", "unknown"};
}

}  // namespace

std::string_view to_string(Refusal refusal) { return words(refusal).name; }
std::string_view explain(Refusal refusal) { return words(refusal).sentence; }

}  // namespace takt::estimation
