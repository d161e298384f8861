#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// A model in which no inferred join joins, and where its parts come from.
struct SeparatedModel {
  Model model;
  /// The callback of the original model that each callback stands for, by index. Those of the
  /// original come first, in their order.
  std::vector<CallbackIndex> callback_of;
  /// Likewise of each chain, in any order.
  std::vector<std::size_t> chain_of;
};

[[nodiscard]] bool has_inferred_joins(const Model& model);

/// The other reading of a model's inferred joins: the messages of different inputs have nothing to
/// do with each other. A callback for each input takes the place of the one that joins. Those of
/// inputs that were seen to complete a set cost as much as it and send what it sends; the others
/// run for their keeping time and send nothing. Where an inference may be wrong, a bound is the
/// larger of the bounds of both readings.
///
/// A declared join behind an inferred one is separated too, as an input of a join is one callback.
/// Chains through a separated callback lead through the one of their input, and are left out where
/// that sends nothing; a chain that begins with it stands once for each. O(size of the model, times
/// inputs of a join).
[[nodiscard]] SeparatedModel separate_inferred_joins(const Model& model);

}  // namespace takt::model
