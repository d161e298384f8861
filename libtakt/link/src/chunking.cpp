#include "takt/link/chunking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace takt::link {

namespace {

constexpr double nanoseconds_per_second = 1e9;
constexpr double bits_per_byte = 8;

/// The longest chunk: Chunk::bytes has 32 bits.
constexpr double most_bytes = std::numeric_limits<std::uint32_t>::max();
/// Nearly the longest Duration, in nanoseconds.
constexpr double longest_time = 9.2e18;

double nanoseconds_per_byte(const LinkCosts& costs) {
  return bits_per_byte * nanoseconds_per_second / costs.bits_per_second;
}

}  // namespace

Result<LinkCosts> fit_costs(std::span<const ChunkTime> measured) {
  const auto count = static_cast<double>(measured.size());
  double mean_bytes = 0;
  double mean_time = 0;
  for (const ChunkTime& chunk : measured) {
    mean_bytes += static_cast<double>(chunk.bytes) / count;
    mean_time += static_cast<double>(chunk.time.count()) / count;
  }
  double covariance = 0;
  double variance = 0;
  for (const ChunkTime& chunk : measured) {
    const double bytes = static_cast<double>(chunk.bytes) - mean_bytes;
    covariance += bytes * (static_cast<double>(chunk.time.count()) - mean_time);
    variance += bytes * bytes;
  }
  if (variance <= 0) return error("the costs of a link need chunks of two sizes at least");
  const double slope = covariance / variance;
  if (slope <= 0) return error("larger chunks took no longer, so the link's bandwidth is unknown");
  const double constant = std::max(0.0, mean_time - slope * mean_bytes);
  return LinkCosts{.bits_per_second = bits_per_byte * nanoseconds_per_second / slope,
                   .per_chunk = Duration{std::llround(constant)}};
}

Duration chunk_time(const LinkCosts& costs, std::uint64_t bytes) {
  const double wire = std::ceil(static_cast<double>(bytes) * nanoseconds_per_byte(costs));
  if (!(wire < longest_time - static_cast<double>(costs.per_chunk.count()))) return Duration::max();
  return costs.per_chunk + Duration{static_cast<std::int64_t>(wire)};
}

Duration blocking_bound(const LinkCosts& costs, std::uint64_t chunk_bytes) {
  return std::max(Duration{0}, chunk_time(costs, chunk_bytes) - epsilon);
}

ChunkChoice judge_chunk(const LinkCosts& costs, std::uint64_t bytes) {
  const auto constant = static_cast<double>(costs.per_chunk.count());
  const double wire = static_cast<double>(bytes) * nanoseconds_per_byte(costs);
  return {.bytes = bytes,
          .blocking = blocking_bound(costs, bytes),
          .overhead = constant / (constant + wire)};
}

Result<ChunkChoice> choose_chunk(const LinkCosts& costs, Duration blocking) {
  const double wire = static_cast<double>(blocking.count()) +
                      static_cast<double>((epsilon - costs.per_chunk).count());
  const double bytes = std::floor(wire / nanoseconds_per_byte(costs));
  if (!(bytes >= 1)) {
    return error("blocking: no chunk blocks for less than {} ns on this link",
                 blocking_bound(costs, 1).count());
  }
  return judge_chunk(costs, static_cast<std::uint64_t>(std::min(bytes, most_bytes)));
}

Result<ChunkChoice> choose_chunk(const LinkCosts& costs, double overhead) {
  if (!(overhead > 0 && overhead < 1)) return error("overhead: must be above 0 and below 1");
  const double wire = static_cast<double>(costs.per_chunk.count()) * (1 - overhead) / overhead;
  const double bytes = std::ceil(wire / nanoseconds_per_byte(costs));
  return judge_chunk(costs, static_cast<std::uint64_t>(std::clamp(bytes, 1.0, most_bytes)));
}

}  // namespace takt::link
