#pragma once

#include <cstdint>

#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// How long a link takes for what is sent over it if nothing else is on it. Each chunk's time is
/// rounded up to whole nanoseconds; times that do not fit are unbounded_time.
namespace takt::model {

/// The longest time of a message of `bytes`, at least 1 ns.
[[nodiscard]] Duration message_time(const Link& link, std::int64_t bytes);

/// The longest time of a single chunk, at least 1 ns.
[[nodiscard]] Duration longest_chunk_time(const Link& link);

}  // namespace takt::model
