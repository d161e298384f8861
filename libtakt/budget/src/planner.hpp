#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "takt/budget/mapping.hpp"
#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"
#include "trial.hpp"

namespace takt::budget {

/// Budgets under which some chains of a model meet their goals, and the cores that serve them.
struct Assignment {
  /// By index in Model::chains.
  std::vector<std::size_t> chains;
  /// The executors on which the chains depend, without those on slots.
  std::vector<model::ExecutorIndex> executors;
  /// By executor of the model; none: no reservation is needed.
  std::vector<std::optional<Duration>> budgets;
  /// By executor of the model: no assignment for these chains has a smaller budget.
  std::vector<std::optional<Duration>> least;
  Mapping mapping;
};

/// Looks for assignments.
///
/// Bounds shrink with budgets (ros-llama fact 23). So the search begins with all that a core grants
/// to every executor on which the chains depend: if a goal is missed even then, no budgets can meet
/// it. From there it lowers budgets by steps while all goals hold. Among all budgets it takes the
/// one which costs the chains the least of their slack for the share of a core that it frees.
/// When no budget can be lowered any more, the step is halved, down to granularity(). The number of
/// cores matters in two places only: the search ends as soon as the budgets fit on them, and when
/// not even the rest of the present steps could make them fit.
class Planner {
 public:
  /// Refers to the model and to the options.
  Planner(const model::Model& model, const Options& options);

  enum class Outcome {
    found,
    not_found,
    /// There is no such assignment.
    not_possible,
  };
  /// Looks for an assignment for these chains, with budgets that may be larger than they need to
  /// be. Takes O(executors² · 100 / step) analyses at most; about 40 for each executor is usual.
  [[nodiscard]] Outcome plan(std::span<const std::size_t> chains);
  /// Whether plan() does not find at once that there is no such assignment. O(log 1000) analyses
  /// for each executor.
  [[nodiscard]] bool may_plan(std::span<const std::size_t> chains) {
    return begin(chains) != Outcome::not_possible;
  }
  /// What plan() has found.
  [[nodiscard]] const Assignment& assignment() const { return present_; }
  /// Lowers the budgets of an assignment until none can be lowered by granularity() alone.
  [[nodiscard]] Assignment lowest(Assignment assignment);

  [[nodiscard]] std::vector<Reservation> reservations(const Assignment& assignment) const;
  [[nodiscard]] std::size_t analyses() const { return whole_.analyses() + trial_.analyses(); }
  [[nodiscard]] std::int64_t steps() const { return whole_.steps() + trial_.steps(); }
  /// From now on nothing more is tried once steps() has reached this; at first Options::effort.
  void stop_after(std::int64_t steps) { most_steps_ = steps; }
  /// Whether the effort has ended a search before it was complete.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  struct Candidate;

  void set(model::ExecutorIndex executor, std::optional<Duration> budget);
  void enter(Assignment assignment);
  /// Gives the executors all that a core grants. Returns why there is no assignment, if that is
  /// clear already.
  [[nodiscard]] std::optional<Outcome> begin(std::span<const std::size_t> chains);
  /// Whether all goals hold, and every callback of an executor with a reservation has a bound if it
  /// has one on a whole core: a budget that is too small throttles, which best effort would not.
  /// False when the effort is spent.
  [[nodiscard]] bool holds();
  void find_least();
  /// Lowers budgets by this many units until none can be lowered; returns whether any was.
  bool lower_all(std::int64_t step);
  /// The next smaller budget; none if it is the least.
  [[nodiscard]] std::optional<Duration> lower(model::ExecutorIndex executor,
                                              std::int64_t step) const;
  /// The share of their slack that chains lost since these bounds.
  [[nodiscard]] double lost(const std::vector<Duration>& former);
  [[nodiscard]] std::vector<Duration> chain_bounds();
  /// The share of a core that this time in each of the executor's periods takes.
  [[nodiscard]] double share(model::ExecutorIndex executor, Duration budget) const;
  [[nodiscard]] std::vector<Load> loads(const std::vector<std::optional<Duration>>& budgets) const;
  /// Whether the budgets might fit on the cores if each were smaller by this many units.
  [[nodiscard]] bool might_fit(std::vector<std::optional<Duration>> budgets,
                               std::int64_t step) const;
  /// Finds cores for the present budgets and keeps them if there are any.
  bool map();

  const model::Model& model_;
  const Options& options_;
  /// Those of the options, without what the model's slots take.
  Cores cores_;
  /// Here every executor has a whole core.
  Trial whole_;
  Trial trial_;
  Assignment present_;
  /// Whether every goal that was missed is missed for certain: neither an analysis nor the search
  /// gave up early.
  bool is_certain_ = true;
  std::int64_t most_steps_;
  bool gave_up_ = false;
};

}  // namespace takt::budget
