#pragma once

#include <cstdint>
#include <span>

#include "takt/base/error.hpp"
#include "takt/time/time.hpp"

/// How large chunks should be: a larger one blocks what is more urgent for longer, smaller ones
/// cost more dispatches (performance-engineering 5.4.3).
namespace takt::link {

/// What a chunk costs on a link: a constant, and time for each of its bits.
struct LinkCosts {
  double bits_per_second = 0;
  /// From the decision to send a chunk to the next decision, beyond its bits: dispatch, headers,
  /// way to the receiver, acknowledgement.
  Duration per_chunk{};
};

/// A chunk that was sent, as measured.
struct ChunkTime {
  std::uint64_t bytes = 0;
  Duration time{};
};

/// The costs that fit measured chunks best, by least squares. Error: fewer than two different
/// sizes, or larger chunks that take no longer.
[[nodiscard]] Result<LinkCosts> fit_costs(std::span<const ChunkTime> measured);

/// From the decision to send a chunk to the next decision, rounded up.
[[nodiscard]] Duration chunk_time(const LinkCosts& costs, std::uint64_t bytes);

/// How long a message waits for less urgent ones at most: one of their chunks, of which at least
/// the smallest unit of time was sent before (Bril et al. 2009, Theorem on blocking: B - ε).
[[nodiscard]] Duration blocking_bound(const LinkCosts& costs, std::uint64_t chunk_bytes);

struct ChunkChoice {
  std::uint64_t bytes = 0;
  Duration blocking{};
  /// The part of the link's time that goes into per_chunk, 0 to 1.
  double overhead = 0;
};

/// What a chunk size means.
[[nodiscard]] ChunkChoice judge_chunk(const LinkCosts& costs, std::uint64_t bytes);

/// The largest chunk that blocks for no longer than `blocking`. Error: even one byte does.
[[nodiscard]] Result<ChunkChoice> choose_chunk(const LinkCosts& costs, Duration blocking);

/// The smallest chunk of which no larger part than `overhead` is lost, 0 < overhead < 1.
[[nodiscard]] Result<ChunkChoice> choose_chunk(const LinkCosts& costs, double overhead);

}  // namespace takt::link
