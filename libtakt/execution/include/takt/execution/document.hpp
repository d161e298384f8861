#pragma once

#include <string>

#include "takt/events/event_stream.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"
#include "takt/execution/summary.hpp"

namespace takt::execution {

/// The `takt/info` version 1 document of a trace that was read to its end.
[[nodiscard]] std::string to_json(const events::EventStream& source, const Database& database,
                                  const Pass& pass, const Summary& summary);

}  // namespace takt::execution
