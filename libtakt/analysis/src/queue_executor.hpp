#pragma once

#include <span>
#include <vector>

#include "executor_analysis.hpp"

namespace takt::analysis {

/// Executors that take every activated instance into a queue at once and run one at a time, without
/// preemption, in the order of: arrival (events), fixed priority (fixed_priority, rate monotonic
/// without priorities; chain_priority, i.e. PiCAS), deadline (edf), or what the job's root has
/// (graph_aware, component-cps Part 4).
///
/// Two kinds of busy windows are bounded, and the lesser bound counts. Those of the executor begin
/// at a quiet time, so activation curves carry no jitter within it (ros-llama Lemma 18), but
/// callbacks that are less urgent count with all instances activated before the victim. Those of
/// the victim's level begin when nothing at least as urgent waits: at most one less urgent instance
/// blocks (the classical analyses; component-cps Eq. 3.4, edf-executor Lemma 1).
class QueueExecutor final : public ExecutorAnalysis {
 public:
  QueueExecutor(const Round& round, ExecutorIndex executor);

  void begin_round() override;
  [[nodiscard]] LocalBound bound(CallbackIndex callback) override;
  [[nodiscard]] LocalBound bound(std::span<const CallbackIndex> chain) override;

 private:
  /// How `other` may delay the victim.
  struct Interference {
    /// Some instances of it may be less urgent than the victim: they only block.
    bool blocks = false;
    /// In windows of the level: none at all; the limit of instances that precede the victim.
    bool precedes = false;
    std::optional<Interferer::Limit> limit;
  };
  [[nodiscard]] Interference interference(const Member& other, const Member& victim) const;

  [[nodiscard]] Duration window_of_executor(const Member& victim);
  [[nodiscard]] Duration window_of_level(const Member& victim) const;
  /// The busy window of everything that may precede some callback of the chain.
  [[nodiscard]] Duration window_of_chain(std::span<const CallbackIndex> chain) const;
  [[nodiscard]] std::string_view name() const;

  /// Of the deadline chain that contains those callbacks, by the analysis of DAC 2022;
  /// unbounded_time if there is none. With Method::edf_paper by its own formula, with its cap.
  [[nodiscard]] Duration deadline_chain_response(std::span<const CallbackIndex> callbacks) const;

  /// Responses of LocalExecutor::deadline_chains.
  std::vector<Duration> deadline_chain_responses_;
};

}  // namespace takt::analysis
