#pragma once

#include <cstdint>
#include <optional>

#include "choices.hpp"
#include "schedule.hpp"
#include "takt/model/model.hpp"

namespace takt::brute_force {

/// The model on a finer clock: all times are so many times as many ε.
[[nodiscard]] model::Model on_finer_clock(model::Model model, std::int64_t factor);

/// A schedule in which ever more instances of a callback wait: no bound of its response time can
/// hold.
struct Growth {
  model::CallbackIndex callback;
  /// The schedule's, by Supplying::bounds.
  Choices choices;
  std::int64_t horizon = 0;
};

/// Looks for such a schedule among so many random ones. In it the callback's waiting instances
/// become more in each of the `stretches` of a schedule of so many longest periods, at least 60.
/// Threads take instances in whole ε, so callbacks that cost one ε need a finer clock to be held
/// without supply.
[[nodiscard]] std::optional<Growth> find_growth(const model::Model& model, int tries,
                                                std::uint64_t seed, std::int64_t periods = 960);

}  // namespace takt::brute_force
