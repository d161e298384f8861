#pragma once

#include <nlohmann/json.hpp>

#include "takt/manager/decision.hpp"
#include "takt/manager/promises.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

using Json = nlohmann::ordered_json;

/// What was decided on one chain, in decisions and in the status.
[[nodiscard]] Json to_json(const ChainDecision& chain);
/// Writes what was promised of one chain until `now`, for the log and for the status.
[[nodiscard]] Json to_json(const PromiseAccount& account, Instant now);
/// The members `chains`, `reservations` and `changes`.
[[nodiscard]] Json to_json(const Decision& decision);

}  // namespace takt::manager
