#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// The `takt/budget` version 1 document of a search on this model with these options.
[[nodiscard]] std::string to_json(const model::Model& model, const Options& options,
                                  const ReservationPlan& plan);

/// What would guarantee a chain of this model, as the `takt/budget` document has it; null unless it
/// was looked for.
[[nodiscard]] nlohmann::ordered_json needs_to_json(const model::Model& model,
                                                   const ChainPlan& planned);

}  // namespace takt::budget
