#pragma once

#include <cstdint>
#include <vector>

#include "choices.hpp"
#include "schedule.hpp"
#include "takt/model/model.hpp"

namespace takt::brute_force {

/// How many schedules are tried.
struct Effort {
  /// Random ones.
  int random = 100;
  /// Steps up from the best one, for each callback and chain.
  int climbing = 100;
};

/// A response time and the schedule that shows it.
struct Witness {
  std::int64_t response = 0;
  Choices choices;
};

/// The longest response times found.
struct Worst {
  std::vector<Witness> callbacks;
  std::vector<Witness> chains;
};

/// Looks for long response times: first with everything released at once and all else as bad as it
/// gets, then at random, then by changing one choice of the worst schedule at a time. Sources are
/// activated up to `horizon` (see Scheduler::run).
[[nodiscard]] Worst search(const model::Model& model, std::int64_t horizon, Effort effort,
                           std::uint64_t seed, Sending sending = Sending::at_most_once,
                           Supplying supplying = Supplying::budgets);

/// The longest response times over all schedules that differ in the first `count` choices of every
/// freedom of every object, at most `most_schedules` of them.
struct Enumeration {
  Worst worst;
  std::int64_t schedules = 0;
  bool complete = false;
};
[[nodiscard]] Enumeration enumerate(const model::Model& model, std::int64_t horizon,
                                    std::size_t count, std::int64_t most_schedules,
                                    Sending sending = Sending::at_most_once);

}  // namespace takt::brute_force
