#pragma once

#include <string>

#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

namespace takt::budget {

/// The `takt/budget` version 1 document of a search on this model with these options.
[[nodiscard]] std::string to_json(const model::Model& model, const Options& options,
                                  const ReservationPlan& plan);

}  // namespace takt::budget
