#pragma once

#include <optional>
#include <span>
#include <vector>

#include "local_bound.hpp"
#include "propagation.hpp"
#include "system.hpp"
#include "takt/analysis/analyze.hpp"

namespace takt::analysis {

/// The analyses of one default single-threaded executor, or of an event source, which is one with a
/// single privileged callback (ros-llama S-3.3 to S-3.6). It reads the curves and the bounds of the
/// fixed point's current round.
class DefaultExecutor {
 public:
  DefaultExecutor(const System& system, ExecutorIndex executor, const Curves& curves,
                  const std::vector<Duration>& response, const Options& options);

  /// Takes over the curves of a new round.
  void begin_round();

  /// The bound of the callback under the current curves and bounds.
  [[nodiscard]] LocalBound bound(CallbackIndex callback);

  /// The bound of a chain of at least two callbacks on this executor, each of which activates the
  /// next (a subchain), from the activation of its first to the completion of its last.
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain);

 private:
  struct Member {
    CallbackIndex callback;
    const Cost* cost = nullptr;
    const DerivedCurve* activations = nullptr;
    const DerivedCurve* busy_activations = nullptr;
    bool polled = true;
    /// The busy-window bound last computed and the polling points it was computed for.
    std::optional<std::int64_t> cached_for;
    Duration cached{};
    /// The latest start last found by the round-robin analysis: it only grows from round to round.
    Duration start = epsilon;
  };

  [[nodiscard]] Duration response(const Member& member) const {
    return response_[member.callback.value()];
  }
  [[nodiscard]] Duration horizon() const { return options_.horizon; }

  /// pp(c), Def. 5: the most polling points in the response time of an instance.
  [[nodiscard]] std::int64_t polling_points(const Member& member) const;

  /// Theorem 2 for a chain that ends with member `last`, with `polling_points` in all. `start` is a
  /// lower bound of the latest start of that instance and becomes the latest start if it is found.
  [[nodiscard]] Duration round_robin(std::size_t last, std::int64_t polling_points, Duration limit,
                                     Duration& start) const;

  /// Theorem 3 for a single callback and for longer chains.
  [[nodiscard]] Duration busy_window(std::size_t member, std::int64_t polling_points);
  [[nodiscard]] Duration busy_window_of_chain(std::size_t last, std::int64_t polling_points);
  /// The latest completion of an instance of `member` activated at `offset` in a busy window.
  class BusyWindowCompletion;
  /// Lemma 21: no busy window is longer.
  [[nodiscard]] Duration busy_window_length();

  /// S-3.6: non-preemptive fixed priority among the privileged callbacks.
  [[nodiscard]] Duration privileged(std::size_t member) const;

  const System& system_;
  const LocalExecutor& executor_;
  const Curves& curves_;
  const std::vector<Duration>& response_;
  const Options& options_;
  std::vector<Member> members_;
  std::optional<Duration> busy_window_length_;
};

}  // namespace takt::analysis
