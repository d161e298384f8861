#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "system/system.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/time/time.hpp"

namespace takt::analysis {

/// The longest time that an instance, once started, delays a more urgent one.
struct Blocking {
  Duration time{};
  std::optional<CallbackIndex> callback;

  void take_longer(Duration other_time, CallbackIndex other) {
    if (other_time > time) *this = {other_time, other};
  }
};

/// The instances one of which may have begun before a busy window, and then delays the victim. If
/// deadlines order, it depends on the victim's activation offset which instances are less urgent:
/// the later the victim, the fewer have a later deadline than it.
class Blockers {
 public:
  Blockers() = default;
  explicit Blockers(const Blocking& always) : Blockers() { add(always); }

  /// Victims with an offset below `until` may be delayed.
  void add(const Blocking& blocking, Duration until = curves::unbounded_time) {
    if (blocking.time <= Duration{0} || until <= Duration{0}) return;
    // An instance that blocks for a shorter time counts only at offsets beyond those of all longer
    // ones.
    const auto place = std::ranges::lower_bound(steps_, until, {}, &Step::until);
    if (place != steps_.end() && place->blocking.time >= blocking.time) return;
    const auto shorter = [&](const Step& step) { return step.blocking.time <= blocking.time; };
    auto first = place;
    while (first != steps_.begin() && shorter(*std::prev(first))) --first;
    const auto last = place != steps_.end() && place->until == until ? std::next(place) : place;
    steps_.insert(steps_.erase(first, last), {blocking, until});
  }

  [[nodiscard]] bool none() const { return steps_.empty(); }
  /// The longest blocking of a victim with that offset.
  [[nodiscard]] Blocking at(Duration offset) const {
    const auto step = std::ranges::upper_bound(steps_, offset, {}, &Step::until);
    return step == steps_.end() ? Blocking{} : step->blocking;
  }
  /// The first later offset at which the longest blocking changes; unbounded_time if there is none.
  [[nodiscard]] Duration next_step(Duration offset) const {
    const auto step = std::ranges::upper_bound(steps_, offset, {}, &Step::until);
    return step == steps_.end() ? curves::unbounded_time : step->until;
  }
  [[nodiscard]] Blocking longest() const { return at(Duration{0}); }

 private:
  struct Step {
    Blocking blocking;
    Duration until{};
  };
  /// In the order of rising `until`, with falling times.
  std::vector<Step> steps_;
};

}  // namespace takt::analysis
