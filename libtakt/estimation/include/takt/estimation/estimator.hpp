#pragma once

#include <memory>

#include "takt/estimation/handoff.hpp"
#include "takt/estimation/refusal.hpp"

namespace takt::estimation {

/// How much of an estimate must lie in a region (section 4.6 of the theory).
struct Confidence {
  AnyVector deviations;
  double tail = 0;
  /// The widest set from which linear mode is safe, along each state.
  AnyVector half_widths;
};

/// A filter whose kind is known at run time only, in absolute coordinates. Accepts late
/// measurements (Timeline). Only make_linear() and make_nonlinear() allocate.
class Estimator {
 public:
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;
  virtual ~Estimator() = default;

  [[nodiscard]] virtual const AnyBelief& belief() const = 0;
  [[nodiscard]] virtual Refusal restart(const AnyBelief& belief) = 0;
  [[nodiscard]] virtual Outcome step(const AnyVector& input, const AnyVector& measurement) = 0;
  /// Takes a measurement of `age` steps ago; 0: of the latest step, for components that it lacked.
  [[nodiscard]] virtual Outcome measure_late(std::uint64_t age, const AnyVector& measurement) = 0;

  /// At most 0 if linear mode may begin with the estimate, wherever in the confidence set the true
  /// state is: all of the set is in the region, and no wider than the half-widths. The value is the
  /// larger one of an upper bound of the region's function over the set, and of how much wider the
  /// set is, as a share of the half-widths. For Kalman filters the set is the box x̂ ± z √P_ii; for
  /// unscented ones it also has the sigma points at the largest z; for particles it is the box of
  /// their percentiles.
  [[nodiscard]] virtual double bound_in(const Region& region, const Confidence& confidence) = 0;
};

/// `remembered`: how many steps back a late measurement may be.
[[nodiscard]] std::unique_ptr<Estimator> make_linear(const Handoff& handoff,
                                                     std::size_t remembered);
[[nodiscard]] std::unique_ptr<Estimator> make_nonlinear(const Handoff& handoff,
                                                        std::size_t remembered);

}  // namespace takt::estimation
