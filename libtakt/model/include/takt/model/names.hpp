#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/model/model.hpp"

/// The names of the model's kinds in documents, and the kinds of names.
namespace takt::model {

[[nodiscard]] std::string_view to_string(ExecutorKind kind);
[[nodiscard]] std::string_view to_string(TimerHandling timers);
[[nodiscard]] std::string_view to_string(CallbackOrder order);
[[nodiscard]] std::string_view to_string(CallbackKind kind);
[[nodiscard]] std::string_view to_string(JoinKind kind);
[[nodiscard]] std::string_view to_string(GoalKind kind);
[[nodiscard]] std::string_view to_string(Transport transport);

/// The kind of that name; none if there is no such kind.
template <typename Kind>
[[nodiscard]] std::optional<Kind> from_string(std::string_view name);

/// All names of a kind.
template <typename Kind>
[[nodiscard]] std::vector<std::string_view> list_names();

/// All names of a kind, for messages: "single_threaded, multi_threaded, …".
template <typename Kind>
[[nodiscard]] std::string all_names();

}  // namespace takt::model
