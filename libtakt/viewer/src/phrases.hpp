#pragma once

#include <array>
#include <string>
#include <string_view>

#include "parts.hpp"

namespace takt::viewer {

/// How a part of an instance is told in words, for the document and for the page that reads it.
struct Phrase {
  PartKind kind;
  /// "{own}" stands for the callback of the part's step.
  std::string_view alone;
  /// Used where it is known what ran before it or instead of it; "{other}" stands for that.
  std::string_view with_other;
};

inline constexpr std::size_t part_kinds = 9;

/// In the order of PartKind. `scheduling`: whether the trace says when threads were preempted.
[[nodiscard]] const std::array<Phrase, part_kinds>& phrases(bool scheduling);

/// `other`: empty if nobody is known.
[[nodiscard]] std::string say(const Phrase& phrase, std::string_view own, std::string_view other);

}  // namespace takt::viewer
