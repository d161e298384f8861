#pragma once

#include <cstdint>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Random models of one executor with several threads: chains through nodes that share callbacks.
namespace takt::soundness {

struct ThreadModel {
  model::Model model;
  /// The callbacks of each chain.
  std::int64_t length = 0;
  /// The utilisation of each thread in percent, of its supply where it has a reservation.
  std::int64_t load = 0;
};

/// 10 to 40 callbacks in chains of equal length, 2 to 10, on 2 to 8 threads. The load is uniform up
/// to 70 % of each thread. Every fifth callback is reentrant; all others are in nodes that exclude
/// their own callbacks, one to some callbacks each, and need up to 0.7 of a thread.
[[nodiscard]] ThreadModel random_threads(std::uint64_t seed, bool reservations);

/// The longest response times and latencies that simulations show, in the order of the model.
struct LongestSeen {
  std::vector<Duration> callbacks;
  std::vector<Duration> chains;
};

/// Simulates the model so often. Some of the simulations release everything at once, all others at
/// random or nearly at once. Overloaded ones show nothing.
[[nodiscard]] Result<LongestSeen> longest_seen(const model::Model& model, int simulations);

}  // namespace takt::soundness
