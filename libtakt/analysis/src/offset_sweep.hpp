#pragma once

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
/// Starts and completions do not decrease with the offset, so the pass follows two fronts through
/// the steps of the curves: at one the offset is, where limits and the victim's own instances grow;
/// at the other the start found so far, up to which others are activated. Every step passes each
/// front once and changes one term of the demand: O(steps) in all, after sorting limits whose
/// reaches differ.
class OffsetSweep {
 public:
  OffsetSweep(const curves::SupplyBound& supply, Duration blocking, const Interferer& self,
              std::span<const Interferer> others, const ActivationSteps& steps);

  /// None if a start lies beyond the steps.
  [[nodiscard]] std::optional<Duration> longest_response();

 private:
  /// Where a count that depends on the offset grows.
  struct Growth {
    Duration offset;
    std::int64_t count;
    /// Into `others_`; of the victim's own instances, unused.
    std::size_t other = 0;
  };
  struct Demand {
    const Interferer* interferer;
    std::int64_t activated = 0;
    std::int64_t most = curves::unbounded_count;
    Duration cost{};
  };

  void collect_growth();
  void grow_own(std::int64_t instances);
  void update(Demand& demand);
  /// Brings the start to where the demand at the current offset is supplied. False: beyond.
  [[nodiscard]] bool advance_start();

  const curves::SupplyBound& supply_;
  const Interferer& self_;
  std::vector<Demand> others_;
  std::span<const ActivationSteps::Step> steps_;
  Duration length_;
  std::size_t self_curve_;
  /// Of each curve of the steps, the one of the others that it activates; none: others_.size().
  std::vector<std::size_t> other_of_;
  std::vector<Growth> own_growth_;
  std::vector<Growth> limit_growth_;

  Duration total_;
  Duration start_ = epsilon;
  std::size_t next_step_ = 0;
  Duration own_cost_{};
  Duration last_cost_{};
};

}  // namespace takt::analysis
