#pragma once

#include <span>

#include "propagation.hpp"
#include "system.hpp"

namespace takt::analysis {

/// The long-run need for processor time of an executor's callbacks beside what is supplied, both as
/// shares of a processor.
struct Utilisation {
  double demand = 0;
  double supply = 0;
  /// Decided in integers: the demand is certainly not below the supply, so busy windows never end
  /// (η(Δ) is never below its long-run rate, nor ET(n) below n times its cheapest stretch).
  bool overloaded = false;
};

/// Of some callbacks of an executor. Leaves out those whose activations have no bound.
[[nodiscard]] Utilisation utilisation(std::span<const CallbackIndex> callbacks,
                                      const curves::SupplyBound& supply, const System& system,
                                      const Curves& curves);

/// Work that arrives: `each` with every activation.
struct Load {
  const DerivedCurve* activations = nullptr;
  Duration each{};
};
/// Whether the loads together certainly need, in the long run, all of the supply or more.
[[nodiscard]] bool overloaded(std::span<const Load> loads, const curves::SupplyBound& supply);

/// Whether activations certainly come, in the long run, at least as often as that many in every
/// `span`; decided in integers.
[[nodiscard]] bool outpaces(const DerivedCurve& activations, std::int64_t instances, Duration span);

}  // namespace takt::analysis
