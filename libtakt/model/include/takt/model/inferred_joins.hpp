#pragma once

#include <vector>

#include "takt/model/model.hpp"

namespace takt::model {

/// A model without inferred joins, and the parts of the original model that it was made from.
struct SeparatedModel {
  Model model;
  /// For each callback, the callback of the original model that it stands for. The original's
  /// callbacks come first, in their order.
  std::vector<CallbackIndex> callback_of;
  /// For each chain, the chain of the original model that it stands for. Chains are in any order.
  std::vector<std::size_t> chain_of;
};

[[nodiscard]] bool has_inferred_joins(const Model& model);

/// Returns the other reading of a model's inferred joins: messages of different inputs are
/// independent. One callback for each input replaces the callback that joins, in its place and in
/// the order of the inputs, which is that of their registration. If the input was seen to complete
/// a set, its callback costs as much as the original and sends the same; otherwise it runs for the
/// keeping time and sends nothing. An inference may be wrong: the bound to use is the larger of the
/// bounds of both readings.
///
/// A declared join behind an inferred one is separated too, because an input of a join is one
/// callback. A chain through a separated callback passes the one for its input; it is left out if
/// that one sends nothing. A chain that begins with a separated callback is repeated for each of
/// its callbacks. O(size of the model, times inputs of a join).
[[nodiscard]] SeparatedModel separate_inferred_joins(const Model& model);

}  // namespace takt::model
