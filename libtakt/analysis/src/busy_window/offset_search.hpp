#pragma once

#include <algorithm>
#include <vector>

#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The latest start and finish of an instance, from the beginning of the busy window.
struct Completion {
  Duration start{};
  Duration finish{};
};

/// The longest response time in a busy window, and an instance that has it.
struct LongestResponse {
  /// unbounded_time if there is no bound.
  Duration response = curves::unbounded_time;
  /// When that instance is activated, and when it starts at the latest, from the beginning of the
  /// window.
  Duration offset{};
  Duration start{};

  /// Takes the instance activated at `at` if its response is longer.
  void take_longer(Duration at, const Completion& completion) {
    if (completion.finish - at > response) {
      *this = {completion.finish - at, at, completion.start};
    }
  }
};

/// What of the longest response is of interest. If it is shorter than `shortest`, any response is
/// as good; and a search may end with the first one above `longest`.
struct OfInterest {
  Duration shortest{};
  Duration longest = curves::unbounded_time;
};

/// The longest response time over all activation offsets t in a busy window of the given length:
/// the maximum of finish(t) - t over 0 <= t < length, unbounded_time if a finish is.
///
/// `complete(t, start)` is the completion of an instance activated at t, where `start` is a lower
/// bound of its start; it must be non-decreasing in t. `next_offset(t)` is the least offset >= t at
/// which it may differ from the one before (the search space of ros-llama S-3.4.1).
///
/// The search does not try every offset of the search space. It halves the interval of offsets (at
/// points of the search space) and drops a part [a, b) as soon as finish(b) - a shows that no
/// response in it exceeds the longest one found. The search for a start begins at the start found
/// for the part's left end.
template <typename Complete, typename NextOffset>
[[nodiscard]] LongestResponse longest_response(Duration length, Complete complete,
                                               NextOffset next_offset,
                                               OfInterest of_interest = {}) {
  struct Part {
    Duration first{};
    Completion at_first;
    Duration last{};
    Duration finish_at_last{};
  };
  const Duration last_offset = length - epsilon;
  const Completion at_zero = complete(Duration{0}, epsilon);
  if (at_zero.finish == curves::unbounded_time) return {};
  const Completion at_last = complete(last_offset, at_zero.start);
  if (at_last.finish == curves::unbounded_time) return {};
  LongestResponse longest{at_zero.finish, Duration{0}, at_zero.start};
  longest.take_longer(last_offset, at_last);
  std::vector<Part> parts{{Duration{0}, at_zero, last_offset, at_last.finish}};
  while (!parts.empty() && longest.response <= of_interest.longest) {
    Part part = parts.back();
    parts.pop_back();
    // Offsets strictly between the ends that could still exceed the longest response found.
    const Duration shorter = std::max(longest.response, of_interest.shortest - epsilon);
    const Duration last = std::min(part.last, part.finish_at_last - shorter) - epsilon;
    if (part.at_first.finish == part.finish_at_last || last <= part.first) continue;
    const Duration middle = part.first + (last - part.first + epsilon) / 2;
    const Duration offset = next_offset(middle);
    if (offset > last) {
      part.last = middle;
      parts.push_back(part);
      continue;
    }
    const Completion at_offset = complete(offset, part.at_first.start);
    longest.take_longer(offset, at_offset);
    parts.push_back({offset, at_offset, part.last, part.finish_at_last});
    parts.push_back({part.first, part.at_first, offset, at_offset.finish});
  }
  return longest;
}

}  // namespace takt::analysis
