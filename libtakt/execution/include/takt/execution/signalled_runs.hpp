#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/execution/objects.hpp"
#include "takt/time/time.hpp"

namespace takt::execution {

/// The runs of rclpy's callbacks where no event names them, by what rclpy's executors call in rcl:
/// on one thread, they take a message (or call a timer), trigger the guard condition of the
/// executor, run the callback, and trigger it again. What a callback triggers in between looks like
/// its end. So an end is believed only if nothing else is seen of the thread until it takes the
/// next message or calls the next timer.
///
///          choose          signal            signal           choose
///   idle ---------> chosen -------> running --------> over --------> (its end was known)
///                                                       | signal, disturb
///                                                       v
///                                                    unclear ------> (its end was not)
class SignalledRuns {
 public:
  /// What a signal meant.
  enum class Meaning : std::uint8_t { nothing, begin, perhaps_end };

  /// The thread has taken what this callback is for.
  void choose(ThreadIndex thread, ObservedCallbackIndex callback);
  /// A guard condition was triggered on the thread.
  Meaning signal(ThreadIndex thread, Instant time, std::uint64_t guard_condition);
  /// The thread does something else than to trigger a guard condition. False if it may do so within
  /// the open run or after it.
  bool disturb(ThreadIndex thread);
  /// The callback that the thread has chosen last.
  [[nodiscard]] ObservedCallbackIndex chosen(ThreadIndex thread) const;
  /// Whether a run has begun on the thread that leave() has not ended.
  [[nodiscard]] bool is_open(ThreadIndex thread) const;
  /// Forgets the run on the thread; gives its end, if that is known.
  std::optional<Instant> leave(ThreadIndex thread);

 private:
  enum class Phase : std::uint8_t { idle, chosen, running, over, unclear };
  struct State {
    Phase phase = Phase::idle;
    ObservedCallbackIndex callback;
    std::uint64_t guard_condition = 0;
    Instant end;
  };

  [[nodiscard]] Phase phase(ThreadIndex thread) const;

  std::vector<State> states_;
};

}  // namespace takt::execution
