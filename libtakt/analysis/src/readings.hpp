#pragma once

#include <string>

#include "takt/analysis/bounds.hpp"
#include "takt/model/inferred_joins.hpp"

/// The inference of a join from a trace may be wrong. So the model is bounded with and without the
/// join, and the larger bound counts.
namespace takt::analysis {

/// Raises the bounds of a model to those of its other reading (model::separate_inferred_joins).
/// Segments name the callbacks of the original.
void take_larger(Bounds& bounds, const model::SeparatedModel& separated,
                 const Bounds& of_separated);

/// The id, in the original, of the callback that a separated model calls `id`.
[[nodiscard]] std::string original_id(const model::SeparatedModel& separated,
                                      const std::string& id);

}  // namespace takt::analysis
