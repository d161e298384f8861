#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace takt {

/// A value of an enumeration, and its name in documents.
template <typename Kind>
using Name = std::pair<Kind, std::string_view>;

/// The names of all values of an enumeration: Names names{std::to_array<Name<Kind>>({…})}. Every
/// look-up is a linear search.
template <typename Kind, std::size_t N>
struct Names {
  std::array<Name<Kind>, N> all;

  /// The name of a value; empty if it has none.
  [[nodiscard]] constexpr std::string_view of(Kind kind) const {
    for (const auto& [value, name] : all) {
      if (value == kind) return name;
    }
    return {};
  }

  /// The value of that name; none if there is none.
  [[nodiscard]] constexpr std::optional<Kind> find(std::string_view wanted) const {
    for (const auto& [value, name] : all) {
      if (name == wanted) return value;
    }
    return std::nullopt;
  }

  /// All names, for messages: "timer, subscription, …".
  [[nodiscard]] std::string list() const {
    std::string list;
    for (const auto& [value, name] : all) {
      if (!list.empty()) list += ", ";
      list += name;
    }
    return list;
  }
};

}  // namespace takt
