#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace takt {

/// The known names that are most similar to `name`, to propose instead of it: at most three. A
/// leading slash makes no difference. O(known names · lengths).
[[nodiscard]] std::vector<std::string> near_names(std::span<const std::string> known,
                                                  std::string_view name);

/// A name without its leading slash, by which names are compared.
[[nodiscard]] inline std::string_view bare(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  return name;
}

}  // namespace takt
