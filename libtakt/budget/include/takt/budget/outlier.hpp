#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "takt/budget/change.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Single observations that make a value of a recorded model.
namespace takt::budget {

/// A value that the model has because of one observation, as the provenance of a model made from a
/// recording says (`outliers`).
struct Observation {
  Duration value{};
  /// The time since the beginning of the recording.
  std::optional<Duration> at{};
  /// Gives the model what it would have without that observation.
  Without without;
};

/// The observations whose values the model still has. What its provenance says of others, or not as
/// `takt model` says it, is left out.
[[nodiscard]] std::vector<Observation> observations_of(const model::Model& model);

/// An observation that makes the bound of a chain that misses its goal.
struct Outlier {
  /// Index in Model::chains.
  std::size_t chain = 0;
  Observation observation;
  /// The chain's bound without it.
  Duration bound{};
};

}  // namespace takt::budget
