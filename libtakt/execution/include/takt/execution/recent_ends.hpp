#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "takt/base/grow.hpp"
#include "takt/execution/instances.hpp"

namespace takt::execution {

/// When the last instances of each callback ended. Memory is bounded by the number of callbacks.
class RecentEnds {
 public:
  void add(const CallbackInstance& instance) {
    Ends& ends = grow_to(callbacks_, instance.callback);
    ends.newest = (ends.newest + 1) % kept;
    ends.list[ends.newest] = {instance.id, instance.end};
  }

  /// When an instance of the callback ended; the largest time if it still runs; the smallest if it
  /// ended so long ago that it is forgotten.
  [[nodiscard]] Instant end_of(ObservedCallbackIndex callback, InstanceId instance) const {
    if (callback.value() >= callbacks_.size()) return Instant::min();
    const Ends& ends = callbacks_[callback.value()];
    if (ends.list[ends.newest].instance < instance) return Instant::max();
    for (const Ended& one : ends.list) {
      if (one.instance == instance) return one.end;
    }
    return Instant::min();
  }

 private:
  static constexpr std::size_t kept = 16;
  struct Ended {
    InstanceId instance = InstanceId::none;
    Instant end;
  };
  struct Ends {
    std::array<Ended, kept> list;
    std::size_t newest = 0;
  };
  std::vector<Ends> callbacks_;
};

}  // namespace takt::execution
