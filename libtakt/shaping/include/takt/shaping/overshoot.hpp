#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "takt/base/names.hpp"
#include "takt/shaping/placement.hpp"
#include "takt/time/time.hpp"

namespace takt::shaping {

/// What happens to an output that is ready after the last slot of its cycle.
enum class Overshoot {
  /// It is dropped: no output is late, some are missing.
  skip,
  /// It leaves in the next slot, of the cycle that follows: none is missing, and it may leave
  /// together with the next output.
  defer,
  /// It leaves at once: none is missing or waits, some leave outside of slots.
  degrade,
};

inline constexpr Names overshoot_names{std::to_array<Name<Overshoot>>({
    {Overshoot::skip, "skip"},
    {Overshoot::defer, "defer"},
    {Overshoot::degrade, "degrade"},
})};

/// Decides when outputs leave. The enacting node (ros/gate) decides by the same object.
class Gate {
 public:
  /// `shortest`: of the chain's latencies. An output that is ready before half of it has passed
  /// belongs to the cycle before. Bands are in the order of their slots, within the cycle.
  Gate(std::vector<Slot> slots, Duration cycle, Duration publish_time, Duration shortest,
       Overshoot policy);

  struct Decision {
    enum class Kind { in_slot, late, dropped };
    Kind kind = Kind::in_slot;
    /// When it leaves, at `ready` or later; without meaning if it is dropped.
    Duration release{};
  };

  /// What happens to an output that is ready at that time since the table began. O(log slots).
  [[nodiscard]] Decision decide(Duration ready) const;

 private:
  std::vector<Slot> slots_;
  Duration cycle_;
  Duration publish_time_;
  Duration earliest_;
  Overshoot policy_;
};

/// What a consumer sees of a chain behind a gate.
struct Delivery {
  /// The latencies of those that left, in their order.
  std::vector<Duration> latencies;
  std::int64_t dropped = 0;
  /// Left outside of the slots of their cycle.
  std::int64_t late = 0;
  /// The longest time between two outputs, or between one and the beginning or the end.
  Duration longest_gap{};
};

/// Executions of the given lengths, one in each cycle; one that outlasts its cycle delays the next
/// (performance-engineering 3.11, overshoot). O(n log slots).
[[nodiscard]] Delivery deliver(const Gate& gate, std::span<const Duration> latencies,
                               Duration cycle, Duration publish_time);

}  // namespace takt::shaping
