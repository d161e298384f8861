#include "takt/yaml/names.hpp"

#include <algorithm>

namespace takt::yaml {

namespace {

/// The longest name of a node in ROS 2.
constexpr std::size_t longest_name = 255;

constexpr bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '/';
}

}  // namespace

std::optional<std::string> parse_node(std::string_view text) {
  if (text.empty() || text == "/" || text.size() > longest_name ||
      !std::ranges::all_of(text, is_allowed)) {
    return std::nullopt;
  }
  return text.starts_with('/') ? std::string(text) : "/" + std::string(text);
}

}  // namespace takt::yaml
