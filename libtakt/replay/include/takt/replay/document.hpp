#pragma once

#include <string>
#include <vector>

#include "takt/events/source.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/model.hpp"
#include "takt/replay/compare.hpp"

namespace takt::replay {

/// The `takt/replay` version 1 document; times in nanoseconds.
[[nodiscard]] std::string to_json(const model::Model& model, const events::Source& source,
                                  const execution::Interpreter& interpreter,
                                  const execution::Pass& pass, const Recording& recording,
                                  const std::vector<Comparison>& comparisons);

}  // namespace takt::replay
