#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "activation/propagation.hpp"
#include "system/system.hpp"
#include "takt/curves/derived_curve.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The jobs of an executor: a job is an activation from outside and all instances that it, and
/// messages within the executor, cause. Where messages join, an instance belongs to the job of the
/// message that completes the set.
class Jobs {
 public:
  /// Callbacks that one job may contain, or several jobs that may contain the same one.
  struct Group {
    std::vector<std::size_t> roots;    // by rank: those that are activated from outside
    std::vector<std::size_t> members;  // by rank
  };
  using Weight = std::function<Duration(std::size_t)>;

  Jobs(const System& system, const Curves& curves, ExecutorIndex executor);

  /// Empty if callbacks of the executor activate each other in a cycle.
  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// The activations of that callback from outside.
  [[nodiscard]] const curves::DerivedCurve& activations(std::size_t root) const {
    return activations_[root];
  }
  /// The greatest total weight of instances of a job, from that callback on, that may wait at the
  /// same time: none of them is activated by another one.
  [[nodiscard]] Duration waiting(std::size_t root, const Weight& weight) const;
  /// The greatest weight along any path of a job.
  [[nodiscard]] Duration longest_path(std::size_t root, const Weight& weight) const;
  /// The callbacks that lead from the root to this one, itself included, if there is one way only;
  /// else none.
  [[nodiscard]] std::vector<std::size_t> only_way(std::size_t rank) const;

 private:
  [[nodiscard]] std::vector<Duration> from_below(
      const std::function<Duration(std::size_t, const std::vector<Duration>&)>& value) const;
  void find_groups();

  /// By rank.
  std::vector<std::vector<std::size_t>> receivers_;
  std::vector<std::vector<std::size_t>> senders_;
  std::vector<bool> from_outside_;
  std::vector<curves::DerivedCurve> activations_;
  /// Receivers before their senders.
  std::vector<std::size_t> order_;
  std::vector<Group> groups_;
};

}  // namespace takt::analysis
