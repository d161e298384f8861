#pragma once

#include <string>

#include "takt/events/event_stream.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"
#include "takt/flow/flows.hpp"

namespace takt::flow {

/// The `takt/flow` version 1 document of a trace that was read to its end, the worst paths first.
[[nodiscard]] std::string to_json(const events::EventStream& source,
                                  const execution::Database& database, const execution::Pass& pass,
                                  const FlowTracker& tracker);

}  // namespace takt::flow
