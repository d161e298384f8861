#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "layout.hpp"
#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"
#include "temporary_directory.hpp"

namespace takt::events {

/// Reads CTF traces with the layouts that LTTng writes, straight from memory-mapped files. Errors:
/// files that cannot be read, programs of ROS 2 recorded without the contexts that say which thread
/// an event is of, and metadata beyond what this decoder knows, which may well be valid. Only for
/// the last, `is_beyond` is true: another decoder may read it. `foreign`: as in OpenOptions.
[[nodiscard]] Result<std::unique_ptr<EventStream>> open_ctf(const std::vector<Given>& given,
                                                            bool foreign, bool& is_beyond);

}  // namespace takt::events
