#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/events/event_stream.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/database.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {

/// The traces that a source reads: path, bytes and fingerprint of each.
[[nodiscard]] nlohmann::ordered_json inputs(const events::EventStream& source);

/// Says where a document derived from a trace comes from: tool, inputs, hosts, times, and the kind
/// of execution times that the trace has. `steady_since` is the end of start-up, if start-up was
/// left out.
[[nodiscard]] nlohmann::ordered_json provenance(const events::EventStream& source,
                                                const Database& database, const Pass& pass,
                                                std::optional<Instant> steady_since);

/// The date and time of day of a moment, to the microsecond (ISO 8601, UTC), by the time since
/// 1970; none if the recording's clock does not count from then.
[[nodiscard]] std::optional<std::string> time_of_day(Duration since_epoch);

/// How a thread is scheduled: `policy`, `priority`, `cores` (null: not known) and `changes`; null
/// if the recording does not show it.
[[nodiscard]] nlohmann::ordered_json schedule_json(const Database& database, ThreadIndex thread);

/// Counts by name of events that the trace lost and of those that did not fit together. "discarded"
/// is always there, the others if they are not zero.
[[nodiscard]] nlohmann::ordered_json losses(const events::EventStream& source,
                                            const Database& database);

/// One line for each thing that programs did or have and no event tells: objects that are older
/// than what was heard, callbacks and their ends. `command` of Takt, "record" or "watch", sees more
/// if it starts the programs. `is_damaged`: what is missing may have been recorded.
[[nodiscard]] std::vector<std::string> unseen(const events::Threads& threads,
                                              const Database& database, std::string_view command,
                                              bool is_damaged = false);

/// One line for each thing that a person should know before trusting what is derived from a trace.
[[nodiscard]] std::vector<std::string> warnings(const events::EventStream& source,
                                                const Database& database);

}  // namespace takt::execution
