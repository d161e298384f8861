#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "takt/flow/stages.hpp"
#include "takt/time/time.hpp"
#include "takt/viewer/recording.hpp"
#include "timeline.hpp"

namespace takt::viewer {

/// Actors are positions in Scheduling::actors().
using Part = flow::BasicPart<RunRow>;

/// From when on an instance of a chain counts, when its first callback was activated, and its end.
struct Times {
  Instant since;
  Instant activation;
  Instant end;
};

/// Splits the time of an instance of a chain into parts as flow::PartSplitter does. An input of a
/// reaction is stored until the activation that reads it. `path` holds the runs of the chain's
/// callbacks, each activated by a message of the one before, or due after it ended. A run lasts
/// until it publishes the message that leads on.
[[nodiscard]] std::vector<Part> split(const Recording& recording, const Timeline& timeline,
                                      const Times& times, std::span<const std::uint32_t> path);

}  // namespace takt::viewer
