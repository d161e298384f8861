#pragma once

#include <string>
#include <vector>

#include "takt/events/event_stream.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/model.hpp"
#include "takt/replay/compare.hpp"

namespace takt::replay {

/// The `takt/replay` version 1 document; times in nanoseconds.
[[nodiscard]] std::string to_json(const model::Model& model, const events::EventStream& source,
                                  const execution::Database& database, const execution::Pass& pass,
                                  const Recording& recording,
                                  const std::vector<Comparison>& comparisons);

}  // namespace takt::replay
