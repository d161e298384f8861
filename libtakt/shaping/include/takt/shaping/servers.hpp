#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/shaping/placement.hpp"
#include "takt/shaping/profile.hpp"

/// When the threads of a chain run: tables of slots (performance-engineering 3.1, 3.4).
namespace takt::shaping {

/// A callback with a slot of its own.
struct Step {
  std::string id;
  std::size_t core = 0;
  /// Its longest execution time, rounded up.
  Duration length{};
  /// Steps that must have ended, by their positions, which are smaller than its own.
  std::vector<std::size_t> after{};
};

/// A slot for each step, one after the other on each core, each when what it waits for has ended.
/// O(steps + waits). Error: they do not fit into the cycle.
[[nodiscard]] Result<std::vector<Slot>> callback_servers(std::span<const Step> steps,
                                                         Duration cycle);

/// A chain that shares its core with others.
struct Demand {
  std::string id;
  Duration period{};
  /// What it takes when it runs alone.
  Profile alone;
};

/// An execution of a chain in a joint table, and when it may run.
struct Job {
  Duration release{};
  /// Counted from the start of the table, together as long as the chain takes at most.
  std::vector<Slot> slots;
};

/// The chains of a joint table have at most so many before it repeats.
inline constexpr std::int64_t most_releases = 100'000;

/// One table for all chains of a core.
struct JointTable {
  /// The least common multiple of the periods, after which it repeats.
  Duration cycle{};
  /// By chain, all executions within the cycle.
  std::vector<std::vector<Job>> jobs;
  /// By chain, its latencies within the table: each of its profile in each of its jobs.
  std::vector<Profile> latencies;
};

/// The table in which each chain, released at multiples of its period, gets its longest time and
/// the slack before its next release: earliest deadline first over the hyperperiod, which needs no
/// more than a utilisation of 1 (Liu and Layland 1973, Theorem 7). The slots of a single chain are
/// those of its server R_γ (Def. 4.3.1). O(jobs · chains).
/// Errors: the utilisation is above 1; the periods have more than most_releases before they
/// meet.
[[nodiscard]] Result<JointTable> joint_table(std::span<const Demand> demands, Duration grid,
                                             Duration slack);

}  // namespace takt::shaping
