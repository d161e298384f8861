#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

/// Which core serves which reservation (ros-llama S-4.5.3).
namespace takt::budget {

/// The demand of a reservation.
struct Load {
  /// budget / deadline of one thread.
  double density = 0;
  int threads = 1;
  /// The core that it has to be on.
  std::optional<int> core{};

  [[nodiscard]] double total() const { return density * threads; }
};

/// The cores that reservations may be on.
struct Cores {
  /// Processor numbers, at least one, each once.
  std::vector<int> numbers{0, 1};
  /// The share of each that reservations may have, in (0, 1]: the kernel's sched_rt_runtime_us /
  /// sched_rt_period_us, less its own reservation for all other threads (Linux 6.12 and later).
  double capacity = 0.9;
  /// The cores that threads may be pinned to; all if there is no value. If the list is empty, only
  /// a global mapping is possible.
  std::optional<std::vector<int>> pinnable{};
  /// Loads that have their share already, besides any reservations: slots of shaped chains.
  std::vector<Load> taken{};

  /// The cores that threads may be pinned to, in the order given.
  [[nodiscard]] const std::vector<int>& pinned() const { return pinnable ? *pinnable : numbers; }
};

/// All but the first: that is left to the system where threads have cores for themselves.
[[nodiscard]] std::vector<int> cores_to_keep(const std::vector<int>& numbers);

struct Mapping {
  enum class Kind {
    /// Any thread runs on any core. The test of Goossens, Funk and Baruah guarantees the supply, so
    /// threads need not be pinned and no exclusive cpuset is needed.
    global,
    /// Every reservation has its core, and the densities on each add up to at most the capacity.
    partitioned,
  };
  Kind kind = Kind::global;
  /// If the mapping is partitioned: the core of each load, in the order of the loads.
  std::vector<int> core_of;
};

/// A mapping on which every reservation gets its budget by its deadline, beside the taken loads;
/// none if none was found. It is global if that is guaranteed and no load is bound to a core; else
/// the first of worst-fit decreasing and first-fit decreasing that fits. O(n (log n + cores)).
[[nodiscard]] std::optional<Mapping> map_to_cores(std::span<const Load> loads, const Cores& cores);

/// Whether the cores serve loads where they are, as `takt run` starts them. Each takes at most the
/// capacity, and none of the cores has more than that. If no load is bound to a core, the test of
/// Goossens, Funk and Baruah has to hold. map_to_cores() keeps the rest of the capacity for other
/// threads besides. If only some are bound to a core, no test is known: false. O(n log n).
[[nodiscard]] bool serve(std::span<const Load> loads, const Cores& cores);

/// Whether the loads and the taken ones are more than the cores have: together, or those that are
/// bound to one core. There is no mapping of them then, whatever the order. O(n log n).
[[nodiscard]] bool exceed(std::span<const Load> loads, const Cores& cores);

}  // namespace takt::budget
