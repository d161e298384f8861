#pragma once

#include <cstdint>
#include <span>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

/// Chooses the size of chunks: a larger chunk blocks more urgent messages for longer, smaller
/// chunks cost more dispatches (performance-engineering 5.4.3).
namespace takt::link {

/// The time that a chunk takes on a link: a constant, and a time for each of its bits.
struct LinkCosts {
  double bits_per_second = 0;
  /// The time from the decision to send a chunk to the next decision, without that of its bits:
  /// dispatch, headers, propagation, acknowledgement.
  Duration per_chunk{};
};

/// The measured time of a chunk that was sent.
struct ChunkTime {
  std::uint64_t bytes = 0;
  Duration time{};
};

/// The costs that fit measured chunks best, by least squares. Error: fewer than two different
/// sizes, or larger chunks that take no longer.
[[nodiscard]] Result<LinkCosts> fit_costs(std::span<const ChunkTime> measured);

/// The time from the decision to send a chunk to the next decision, rounded up. Beyond what a
/// Duration can hold it is the longest one.
[[nodiscard]] Duration chunk_time(const LinkCosts& costs, std::uint64_t bytes);

/// The longest time that a message waits for less urgent ones: one of their chunks, which began at
/// least the smallest unit of time before (Bril et al. 2009, Theorem on blocking: B - ε).
[[nodiscard]] Duration blocking_bound(const LinkCosts& costs, std::uint64_t chunk_bytes);

struct ChunkChoice {
  std::uint64_t bytes = 0;
  Duration blocking{};
  /// The part of the link's time that goes into per_chunk, 0 to 1.
  double overhead = 0;
};

/// The blocking and the overhead of chunks of this size.
[[nodiscard]] ChunkChoice judge_chunk(const LinkCosts& costs, std::uint64_t bytes);

/// The largest chunk, of up to 2^32 - 1 bytes, that blocks for no longer than `blocking`. Error:
/// even a chunk of one byte blocks for longer.
[[nodiscard]] Result<ChunkChoice> choose_chunk(const LinkCosts& costs, Duration blocking);

/// The smallest chunk whose overhead is at most `overhead`, 0 < overhead < 1, or that of 2^32 - 1
/// bytes if no chunk has so little.
[[nodiscard]] Result<ChunkChoice> choose_chunk(const LinkCosts& costs, double overhead);

}  // namespace takt::link
