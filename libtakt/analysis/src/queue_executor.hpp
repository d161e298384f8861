#pragma once

#include <span>
#include <vector>

#include "deadline_chains.hpp"
#include "executor_analysis.hpp"
#include "utilisation.hpp"

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
  [[nodiscard]] Terms explain(std::span<const CallbackIndex> chain, Duration response) override;
  [[nodiscard]] Wide least_response(CallbackIndex callback, const FluidPoint& point) override;

 private:
  /// Gives members costs with their releases (component-cps 3.7), which grow with the curves.
  void follow_releases();
  void find_deadline_chain_responses();

  /// How `other` may delay the victim.
  struct Interference {
    /// Some instances of it may be less urgent than the victim: they only block.
    bool blocks = false;
    /// In windows of the level: none at all; the limit of instances that precede the victim.
    bool precedes = false;
    std::optional<Interferer::Limit> limit;
  };
  [[nodiscard]] Interference interference(const Member& other, const Member& victim) const;

  /// Those of the executor, with all instances of all callbacks.
  [[nodiscard]] BusyWindow window_of_all() const;
  [[nodiscard]] BusyWindow executor_window(const Member& victim) const;
  /// None: it does not end.
  [[nodiscard]] std::optional<LevelWindow> level_window(const Member& victim) const;
  /// The busy window of everything that may precede some callback of the chain, which does not
  /// outlast it; none: it does not end.
  [[nodiscard]] std::optional<LevelWindow> chain_window(std::span<const CallbackIndex> chain) const;
  [[nodiscard]] std::string_view name() const;

  /// A busy window of a tree's level on the graph-aware executor.
  struct TreeWindow {
    Load self;
    std::vector<Load> others{};
    std::vector<const Tree*> trees{};
    Duration blocking{};
    std::optional<CallbackIndex> blocker{};
  };
  [[nodiscard]] Duration work(const Tree& tree) const;
  /// None: it does not end.
  [[nodiscard]] std::optional<TreeWindow> tree_window(const Tree& tree) const;
  [[nodiscard]] Duration least_window(const TreeWindow& window, Duration start,
                                      Duration fixed) const;
  [[nodiscard]] Completion complete(const TreeWindow& window, Duration offset,
                                    Duration start) const;
  [[nodiscard]] Duration length(const TreeWindow& window) const;
  /// From the activation of a tree's root to the completion of all of the tree.
  [[nodiscard]] Duration tree_response(const Tree& tree) const;
  /// Of the trees that the chain, or a single callback, belongs to; unbounded_time if there are
  /// none or it leaves them.
  [[nodiscard]] Duration tree_response(std::span<const CallbackIndex> chain) const;
  /// The tree that gave that response; null if none did.
  [[nodiscard]] const Tree* tree_of(std::span<const CallbackIndex> chain, Duration response) const;
  [[nodiscard]] Wide least_tree_response(CallbackIndex callback, const FluidPoint& point) const;
  [[nodiscard]] Terms explain_tree(const Tree& tree, Duration response) const;

  /// Of the deadline chain that contains those callbacks, by the analysis of DAC 2022;
  /// unbounded_time if there is none. With Method::edf_paper by its own formula, with its cap.
  [[nodiscard]] Duration deadline_chain_response(std::span<const CallbackIndex> callbacks) const;
  [[nodiscard]] Terms explain_deadline_chain(std::span<const CallbackIndex> callbacks,
                                             Duration response) const;
  /// Empty if the analysis does not apply.
  [[nodiscard]] std::vector<DeadlineChain> deadline_chains() const;

  /// By rank: the members' tasks with what the releases during an instance add to its cost; empty
  /// if releases cost nothing.
  std::vector<Task> tasks_with_releases_;
  std::vector<Duration> releases_;
  /// Nothing limits the releases during some instance.
  bool endless_releases_ = false;

  /// Responses of LocalExecutor::deadline_chains.
  std::vector<Duration> deadline_chain_responses_;
};

}  // namespace takt::analysis
