#pragma once

#include <span>

#include "activation/propagation.hpp"
#include "demand/demand_line.hpp"
#include "system/system.hpp"

namespace takt::analysis {

/// The long-run need for processor time of an executor's callbacks beside what is supplied, both as
/// shares of a processor.
struct Utilisation {
  double demand = 0;
  double supply = 0;
  /// Whether the demand certainly reaches the supply, so that busy windows never end. Decided in
  /// integers: η(Δ) is at least its long-run rate times Δ, and ET(n) at least n times its cheapest
  /// stretch.
  bool overloaded = false;
};

/// The processor's share that a callback needs in the long run, with its releases; 0 if nothing
/// bounds its activations. In units of 2^-40.
[[nodiscard]] Int128 long_run_share(CallbackIndex callback, const System& system,
                                    const Curves& curves);

/// The utilisation by some callbacks of an executor, without those whose activations have no bound.
[[nodiscard]] Utilisation utilisation(std::span<const CallbackIndex> callbacks,
                                      const curves::SupplyBound& supply, const System& system,
                                      const Curves& curves);

/// Whether activations certainly come, in the long run, at least as often as that many in every
/// `span`; decided in integers.
[[nodiscard]] bool outpaces(const curves::DerivedCurve& activations, std::int64_t instances,
                            Duration span);

}  // namespace takt::analysis
