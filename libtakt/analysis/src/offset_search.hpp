#pragma once

#include <algorithm>
#include <vector>

#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// When an instance starts and finishes at the latest, from the start of the busy window.
struct Completion {
  Duration start{};
  Duration finish{};
};

/// The longest response time over all activation offsets t in a busy window of the given length:
/// the maximum of finish(t) - t over 0 <= t < length, unbounded_time if a finish is.
///
/// `complete(t, start)` is the completion of an instance activated at t, where `start` is a lower
/// bound of its start; it must be non-decreasing in t. `next_offset(t)` is the least offset >= t at
/// which it may differ from the one before (the search space of ros-llama S-3.4.1).
///
/// Instead of trying every offset of the search space, the interval of offsets is halved (at points
/// of the search space), and a part [a, b) is dropped as soon as finish(b) - a shows that nothing
/// in it exceeds the longest response found. Searches for starts begin where the left end's one
/// ended.
template <typename Complete, typename NextOffset>
[[nodiscard]] Duration longest_response(Duration length, Complete complete,
                                        NextOffset next_offset) {
  struct Part {
    Duration first{};
    Completion at_first;
    Duration last{};
    Duration finish_at_last{};
  };
  const Duration last_offset = length - epsilon;
  const Completion at_zero = complete(Duration{0}, epsilon);
  if (at_zero.finish == curves::unbounded_time) return at_zero.finish;
  const Completion at_last = complete(last_offset, at_zero.start);
  if (at_last.finish == curves::unbounded_time) return at_last.finish;
  Duration longest = std::max(at_zero.finish, at_last.finish - last_offset);
  std::vector<Part> parts{{Duration{0}, at_zero, last_offset, at_last.finish}};
  while (!parts.empty()) {
    Part part = parts.back();
    parts.pop_back();
    // Offsets strictly between the ends that could still exceed the longest response found.
    const Duration last = std::min(part.last, part.finish_at_last - longest) - epsilon;
    if (part.at_first.finish == part.finish_at_last || last <= part.first) continue;
    const Duration middle = part.first + (last - part.first + epsilon) / 2;
    const Duration offset = next_offset(middle);
    if (offset > last) {
      part.last = middle;
      parts.push_back(part);
      continue;
    }
    const Completion at_offset = complete(offset, part.at_first.start);
    longest = std::max(longest, at_offset.finish - offset);
    parts.push_back({offset, at_offset, part.last, part.finish_at_last});
    parts.push_back({part.first, part.at_first, offset, at_offset.finish});
  }
  return longest;
}

}  // namespace takt::analysis
