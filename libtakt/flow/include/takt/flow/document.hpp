#pragma once

#include <string>

#include "takt/events/event_stream.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// The `takt/measurement` version 1 document of a trace that was read to its end.
[[nodiscard]] std::string to_json(const model::Model& model, const events::EventStream& source,
                                  const execution::Database& database, const execution::Pass& pass,
                                  const Measurement& measurement);

}  // namespace takt::flow
