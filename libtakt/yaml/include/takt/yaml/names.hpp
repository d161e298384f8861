#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace takt::yaml {

/// The name of a node of ROS 2 as people write it, with its leading slash. None if the text is no
/// such name.
[[nodiscard]] std::optional<std::string> parse_node(std::string_view text);

}  // namespace takt::yaml
