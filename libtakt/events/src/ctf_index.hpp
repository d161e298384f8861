#pragma once

#include <filesystem>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::events::ctf {

/// Counts as unreadable the packets that LTTng's index files of a trace's directory list and that
/// lie beyond the end of their stream file, as in a copy that was cut short: where the file ends
/// between two packets, nothing in it shows that more followed. LTTng writes a packet first and
/// lists it then, so that no recording lists more than there is, however it ended. What is no index
/// is ignored, since streams are read without it. Error: an index cannot be read. O(packets).
[[nodiscard]] Result<StreamLosses> listed_beyond_end(const std::filesystem::path& directory);

}  // namespace takt::events::ctf
