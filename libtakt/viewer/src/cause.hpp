#pragma once

#include <string>
#include <vector>

#include "parts.hpp"
#include "takt/execution/objects.hpp"
#include "takt/viewer/recording.hpp"

namespace takt::viewer {

/// The cause of an instance's latency in one sentence: the sum of parts of one kind at one step
/// that is the longest. `names` are those of the callbacks of the trace, `actors`
/// those of the threads that ran on its processors. Empty without parts.
[[nodiscard]] std::string cause(const Recording& recording, const std::vector<Part>& parts,
                                const std::vector<std::int64_t>& path,
                                const std::vector<std::string>& names,
                                const std::vector<std::string>& actors, Duration latency,
                                bool scheduling);

}  // namespace takt::viewer
