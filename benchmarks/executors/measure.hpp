#pragma once

#include <vector>

#include "subject.hpp"
#include "takt/time/time.hpp"

namespace takt::benchmark {

/// One round of measurements of a subject.
struct Round {
  /// Processor time for each of many messages that wait: of the thread that runs the callbacks, and
  /// of the whole process, from publication on.
  Duration dispatch{};
  Duration everything{};
  /// From before the publication to the callback of an executor that sleeps: median and 99 %.
  Duration wake_up{};
  Duration late_wake_up{};
};

[[nodiscard]] Round measure(Subject& subject);

[[nodiscard]] Duration quantile(std::vector<Duration> values, double share);

}  // namespace takt::benchmark
