#pragma once

#include <array>
#include <chrono>

#include "takt/base/error.hpp"
#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"

/// The automatic choice of the reservations' period (ros-llama S-4.5.2, S-5.5).
namespace takt::budget {

/// The periods that are tried. Shorter ones cost more than they gain: with 2 ms, observed response
/// times were above their bounds, because nothing accounts for the kernel's own work (ros-llama
/// S-5.5).
inline constexpr std::array<Duration, 8> periods{
    std::chrono::milliseconds{3},  std::chrono::milliseconds{4}, std::chrono::milliseconds{5},
    std::chrono::milliseconds{6},  std::chrono::milliseconds{8}, std::chrono::milliseconds{10},
    std::chrono::milliseconds{15}, std::chrono::milliseconds{20}};

/// The kernel's approximate cost of a reservation in each of its periods: the timer of the
/// replenishment, and the switches from the thread and back to it.
inline constexpr std::chrono::microseconds cost_of_a_period{20};

/// Searches with each of the periods, and returns the plan that guarantees the most chains; among
/// those, the one that takes the least of the processors, the kernel's cost included. Bounds do not
/// always grow with the period, so each has to be tried. Errors: those of search().
[[nodiscard]] Result<ReservationPlan> search_with_best_period(const model::Model& model,
                                                              Options options);

}  // namespace takt::budget
