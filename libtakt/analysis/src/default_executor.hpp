#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor_analysis.hpp"

namespace takt::analysis {

/// The default single-threaded executor, or an event source, which is one with a single privileged
/// callback (ros-llama S-3.3 to S-3.6).
class DefaultExecutor final : public ExecutorAnalysis {
 public:
  DefaultExecutor(const Round& round, ExecutorIndex executor);

  void begin_round() override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;

 private:
  /// What is worth keeping of a callback from one evaluation to the next.
  struct Memory {
    /// The polling points for which the busy-window bound was last computed, and that bound.
    std::optional<std::int64_t> polling_points;
    Duration busy_window{};
    /// The latest start last found by the round-robin analysis: it only grows from round to round.
    Duration start = epsilon;
  };

  /// pp(c), Def. 5: the most polling points in the response time of an instance.
  [[nodiscard]] std::int64_t polling_points(const Member& member) const;

  /// Theorem 2 for a chain that ends with member `last`, with `polling_points` in all. `start` is a
  /// lower bound of the latest start of that instance and becomes the latest start if it is found.
  [[nodiscard]] Duration round_robin(std::size_t last, std::int64_t polling_points, Duration limit,
                                     Duration& start) const;

  /// Theorem 3 for a single callback, and for longer chains that end with member `last`.
  [[nodiscard]] Duration busy_window(std::size_t member, std::int64_t polling_points);
  [[nodiscard]] Duration busy_window_of_chain(std::size_t last, std::int64_t polling_points);
  [[nodiscard]] BusyWindow window_of(std::size_t member, std::int64_t polling_points) const;

  /// S-3.6: non-preemptive fixed priority among the privileged callbacks.
  [[nodiscard]] Duration privileged(std::size_t member) const;

  std::vector<Memory> memory_;
};

}  // namespace takt::analysis
