#pragma once

#include <array>
#include <string>
#include <string_view>

#include "takt/flow/stages.hpp"

namespace takt::viewer {

/// The sentences on parts of an instance, for the document and for the page that reads it.
/// `scheduling`: whether the trace says when threads were preempted.
[[nodiscard]] const std::array<flow::StageWords, flow::stages>& phrases(bool scheduling);

/// `other`: empty if nobody is known.
[[nodiscard]] std::string say(const flow::StageWords& phrase, std::string_view own,
                              std::string_view other);

}  // namespace takt::viewer
