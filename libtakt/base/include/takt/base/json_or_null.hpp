#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

namespace takt {

/// The member of a document that may be absent: the value, or null.
template <typename Value>
[[nodiscard]] nlohmann::ordered_json or_null(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

/// The same for a time, as a number of nanoseconds.
[[nodiscard]] inline nlohmann::ordered_json or_null(
    const std::optional<std::chrono::nanoseconds>& time) {
  return time ? nlohmann::ordered_json(time->count()) : nlohmann::ordered_json();
}

}  // namespace takt
