#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "subject.hpp"
#include "takt/time/time.hpp"

namespace takt::benchmark {

/// One round of measurements of a subject.
struct Round {
  /// Processor time of the process for each of many messages that wait: from when the executor runs
  /// them, and from their publication on.
  Duration dispatch{};
  Duration everything{};
  /// From before the publication to the callback of an executor that sleeps, on one processor:
  /// median and 99 %.
  Duration wake_up{};
  Duration late_wake_up{};
};

[[nodiscard]] Round measure(Subject& subject);

// The two parts of measure(); each returns how many messages it measured.
int measure_dispatch(Subject& subject, Round& round);
int measure_wake_ups(Subject& subject, Round& round);

/// There must be a value.
template <typename Value>
[[nodiscard]] Value quantile(std::vector<Value> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::ranges::nth_element(values, values.begin() + place);
  return values[static_cast<std::size_t>(place)];
}

}  // namespace takt::benchmark
