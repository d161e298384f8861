#include "selection.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture {

Result<std::uint64_t> select(std::span<const std::string> patterns) {
  std::uint64_t selected = 0;
  for (const auto& pattern : patterns) {
    if (pattern.find(':') == std::string::npos) {
      return error(
          "'{}' is not the name of an event; expected for example ros2:rcl_publish or ros2:*",
          pattern);
    }
    for (std::size_t number = 0; number < tracepoints::choosable; ++number) {
      const auto& tracepoint = tracepoints::of_programs[number];
      const std::string name = fmt::format("{}:{}", tracepoint.provider, tracepoint.name);
      if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) {
        selected |= std::uint64_t{1} << number;
      }
    }
  }
  return selected;
}

}  // namespace takt::capture
