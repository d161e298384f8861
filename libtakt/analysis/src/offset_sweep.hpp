#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "activation_steps.hpp"
#include "busy_window.hpp"
#include "takt/curves/supply_bound.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The longest response time in the busy windows of a victim, by one pass over all activation
/// offsets of the search space (ros-llama S-3.4.1) in ascending order.
///
/// Starts and completions do not decrease with the offset, so the pass follows three fronts through
/// the steps of the curves: at the offset, where the victim's own instances and the limits of
/// others grow, and at the start found so far, up to which others are activated. Every step passes
/// each front once and changes one term of the demand: O(steps) in all, after sorting those of
/// limits whose reaches differ.
class OffsetSweep {
 public:
  OffsetSweep(const curves::SupplyBound& supply, Duration blocking, const Interferer& self,
              std::span<const Interferer> others, const ActivationSteps& steps);

  /// None if a start lies beyond the steps.
  [[nodiscard]] std::optional<Duration> longest_response();

 private:
  using Step = ActivationSteps::Step;

  /// What the steps of a curve demand.
  struct Demand {
    /// None: it is the victim's, and activates none of the others.
    const Cost* cost = nullptr;
    const Interferer::Limit* limit = nullptr;
    std::int64_t activated = 0;
    std::int64_t most = curves::unbounded_count;
    Duration total{};
  };

  void align_reaches();
  void grow_own(std::int64_t instances);
  void grow_limit(Demand& demand, std::int64_t activations);
  void activate(Demand& demand, std::int64_t activations);
  void update(Demand& demand);
  /// The offsets of the next growth of own instances, and of a limit; unbounded_time: none.
  [[nodiscard]] Duration next_own();
  [[nodiscard]] Duration next_limit();
  /// Brings the start to where the demand at the current offset is supplied. False: beyond.
  [[nodiscard]] bool advance_start();

  const curves::SupplyBound& supply_;
  const Interferer& self_;
  std::span<const Step> steps_;
  Duration length_;
  std::size_t self_curve_;
  std::vector<Demand> demands_;  // of each curve
  /// The steps at which limits grow, `reach_` later than the offset.
  std::span<const Step> limit_steps_;
  Duration reach_{};
  std::vector<Step> aligned_;

  Duration total_;
  Duration start_ = epsilon;
  std::size_t next_own_ = 0;
  std::size_t next_limit_ = 0;
  std::size_t next_step_ = 0;
  Duration own_cost_{};
  Duration last_cost_{};
};

}  // namespace takt::analysis
