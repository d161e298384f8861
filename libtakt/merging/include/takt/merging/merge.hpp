#pragma once

#include <map>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"

/// One model of several runs of a system (performance-engineering 2.10, approach b).
namespace takt::merging {

struct Merged {
  /// Without a provenance.
  model::Model model;
  /// For each run: the ids of its executors, and the ids that these executors have in the model.
  std::vector<std::map<std::string, std::string>> executor_names;
  /// Executors whose callbacks the runs registered in orders that contradict each other, so that
  /// the model says less of their order than the runs.
  std::vector<model::ExecutorIndex> contradicting;
};

/// The model of valid ones, at least one, each of a run. Callbacks are the same if their ids are,
/// executors if they run the same callbacks. What the model says holds in every run: execution
/// times are the largest, distances of activations the shortest, delays the longest, supplies the
/// weakest. Errors name what differs so that nothing stands for all runs. O(sum of the squares of
/// the nodes' callbacks · runs).
[[nodiscard]] Result<Merged> merge(std::vector<model::Model> runs);

}  // namespace takt::merging
