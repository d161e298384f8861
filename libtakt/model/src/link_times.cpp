#include "takt/model/link_times.hpp"

#include <algorithm>

#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::model {

namespace {

/// From the decision to send a chunk to the next decision.
Duration chunk_time(const Link& link, std::int64_t bytes) {
  constexpr std::int64_t nanoseconds_of_bits = 8'000'000'000;
  const Int128 wire = (Int128{bytes} * nanoseconds_of_bits + link.bandwidth - 1) / link.bandwidth;
  if (wire > curves::unbounded_count) return curves::unbounded_time;
  return curves::saturating_add(Duration{static_cast<std::int64_t>(wire)}, link.overhead);
}

}  // namespace

Duration message_time(const Link& link, std::int64_t bytes) {
  const std::int64_t whole = bytes / link.chunk_bytes;
  const std::int64_t rest = bytes % link.chunk_bytes;
  Duration time = curves::saturating_multiply(longest_chunk_time(link), whole);
  if (rest > 0 || whole == 0) time = curves::saturating_add(time, chunk_time(link, rest));
  // The analyses read a cost of 0 as negligible.
  return std::max(epsilon, time);
}

Duration longest_chunk_time(const Link& link) {
  return std::max(epsilon, chunk_time(link, link.chunk_bytes));
}

}  // namespace takt::model
