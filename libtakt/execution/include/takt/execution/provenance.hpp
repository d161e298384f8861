#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "takt/events/source.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {

/// Where a document derived from a trace comes from: tool, inputs, hosts, times, what the trace was
/// like. `steady_since`: the end of start-up, if that was left out.
[[nodiscard]] nlohmann::ordered_json provenance(const events::Source& source,
                                                const Interpreter& interpreter, const Pass& pass,
                                                std::optional<Instant> steady_since);

/// What the trace lost and what in it did not fit together, name to count; "discarded" is always
/// there, others if not zero.
[[nodiscard]] nlohmann::ordered_json losses(const events::Losses& losses,
                                            const Anomalies& anomalies);

/// One line for each thing that a person should know before trusting what is derived from a trace.
[[nodiscard]] std::vector<std::string> warnings(const events::Source& source,
                                                const Interpreter& interpreter);

}  // namespace takt::execution
