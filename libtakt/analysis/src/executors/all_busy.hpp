#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::analysis {

/// Work that a group of callbacks, or a callback that may run several times at once, does on the
/// threads of an executor within some window.
struct SharedWork {
  /// The work of instances that are activated within the window.
  Duration fresh{};
  /// `fresh`, and the work that is still left when the window begins; at least `fresh`.
  Duration carried{};
  /// On how many threads at once it may run.
  std::int64_t width = 1;
};

/// The longest time that all threads are busy with such work at once: the greatest X with
///
///   threads · X <= Σ min(work, width · X)
///
/// where at most `carriers` of them have something left at the beginning. The result may be a
/// little larger where finding X exactly takes many steps. May reorder the work. O(n log n).
[[nodiscard]] Duration longest_all_busy(std::vector<SharedWork>& work, std::int64_t threads,
                                        std::size_t carriers);

}  // namespace takt::analysis
