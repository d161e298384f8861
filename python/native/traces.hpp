#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "native.hpp"
#include "takt/events/source.hpp"

namespace takt::native {

/// The traces at `paths` as one source. Throws InputError.
inline std::unique_ptr<events::Source> open_traces(const std::vector<std::string>& paths) {
  const std::vector<std::filesystem::path> names(paths.begin(), paths.end());
  return unwrap(events::open(names));
}

}  // namespace takt::native
