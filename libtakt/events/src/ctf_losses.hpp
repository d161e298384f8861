#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "takt/events/event_stream.hpp"

namespace takt::events::ctf {

/// What a packet says of its place in the stream. The counters go on from file to file of a stream.
struct PacketCounters {
  std::uint64_t begin = 0;
  std::optional<std::uint64_t> sequence;
  std::uint64_t discarded = 0;
  std::uint32_t discarded_bits = 64;
};

/// Returns what was lost from one packet to the next. Counters are as wide as in the packet and may
/// wrap.
[[nodiscard]] StreamLosses lost_between(const PacketCounters& before, const PacketCounters& after);

/// A file, which holds all of a stream or a part of it (LTTng begins a new one at a size).
struct StreamPart {
  std::string trace;  ///< its UUID; empty: the file stands alone
  std::uint64_t stream_class = 0;
  std::optional<std::uint64_t> instance;  ///< none: the file stands alone
  PacketCounters first;
  PacketCounters last;
};

/// Returns what was lost before the first packets of streams and between their parts. Parts that
/// overlap (snapshots of one session) lost nothing between them. O(n log n).
[[nodiscard]] StreamLosses lost_between_parts(std::vector<StreamPart> parts);

}  // namespace takt::events::ctf
