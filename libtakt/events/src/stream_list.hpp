#pragma once

#include <filesystem>
#include <set>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::events {

/// What a copy of a recording lacks.
struct Lacking {
  StreamLosses losses;
  /// The stream files that are shorter than they were. What they lack is in `losses`.
  std::set<std::filesystem::path> shorter;
};

/// Counts as unreadable what the recordings at or below `root` had when they ended, by the lists of
/// their streams (takt/base/stream_sizes.hpp), and no longer have. A recording that goes on, or
/// whose recorder was killed, has no list. Files with an index of LTTng's are left to that. Error:
/// what is there cannot be told. O(streams).
[[nodiscard]] Result<Lacking> listed_and_lacking(const std::filesystem::path& root);

}  // namespace takt::events
