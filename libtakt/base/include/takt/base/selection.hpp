#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/near_names.hpp"

/// Patterns by which people name topics and nodes. Header-only, as programs that are traced use it.
namespace takt {

/// Whether a name is one of those that a pattern stands for: `*` stands for any characters, `?` for
/// one, `[ab]` for one of these. A leading slash makes no difference. O(both lengths) for each `*`.
[[nodiscard]] inline bool matches(std::string_view pattern, std::string_view name) {
  return fnmatch(std::string(bare(pattern)).c_str(), std::string(bare(name)).c_str(), 0) == 0;
}

/// The same of a topic at a node, by "node:topic", a pattern for each; a pattern without a colon is
/// a topic's or a node's. `topic` is empty for what has none, such as a timer.
[[nodiscard]] inline bool matches(std::string_view pattern, std::string_view node,
                                  std::string_view topic) {
  const auto colon = pattern.find(':');
  if (colon == std::string_view::npos) return matches(pattern, topic) || matches(pattern, node);
  return matches(pattern.substr(0, colon), node) && matches(pattern.substr(colon + 1), topic);
}

/// Some of the topics and nodes of a robot, as people select them.
struct Selection {
  std::vector<std::string> include;  // none: everything
  std::vector<std::string> exclude;  // wins over `include`

  [[nodiscard]] bool is_everything() const { return include.empty() && exclude.empty(); }
  [[nodiscard]] bool has(std::string_view node, std::string_view topic) const {
    const auto is_named = [&](const std::vector<std::string>& patterns) {
      return std::ranges::any_of(
          patterns, [&](const std::string& pattern) { return matches(pattern, node, topic); });
    };
    return (include.empty() || is_named(include)) && !is_named(exclude);
  }
};

}  // namespace takt
