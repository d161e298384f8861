#pragma once

#include <string>

#include "takt/model/model.hpp"
#include "takt/simulation/simulate.hpp"

namespace takt::simulation {

/// The `takt/simulation` version 1 document, statistics in nanoseconds. Its timeline, if any, has
/// the fields of a `takt/measurement`'s.
[[nodiscard]] std::string to_json(const model::Model& model, const Options& options,
                                  const Simulation& simulation);

}  // namespace takt::simulation
