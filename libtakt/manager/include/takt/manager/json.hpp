#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "takt/manager/decision.hpp"
#include "takt/time/time.hpp"

namespace takt::manager {

using Json = nlohmann::ordered_json;

inline Json or_null(const std::optional<Duration>& time) {
  return time ? Json(time->count()) : Json();
}

/// What was decided on one chain, in decisions and in the status.
[[nodiscard]] Json to_json(const ChainDecision& chain);
/// The members `chains`, `reservations` and `changes`.
[[nodiscard]] Json to_json(const Decision& decision);

}  // namespace takt::manager
