#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "takt/budget/search.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"

namespace takt::manager {

struct Options {
  /// Percent by which execution times may grow beyond what was seen without a goal being missed.
  int margin = 10;
  /// A chain that was degraded is guaranteed again when so many decisions in a row could do it.
  int calm = 3;
  /// Budgets stay as they are as long as they are enough, and take no more than this many percent
  /// more bandwidth than new ones would; no more at all after the kernel has refused some.
  int spare = 20;
  /// Budgets may be larger than the goals need, but leave this many percent of each core to all
  /// other programs. 100: budgets are as small as the goals allow.
  int left = 25;
  /// All reservations have this period. None: it is chosen when the chains change, or fewer can be
  /// guaranteed.
  std::optional<Duration> period = budget::default_period;
  analysis::Options analysis{.horizon = std::chrono::seconds{10}};
};

/// Decides which chains are guaranteed by which reservations (ros-llama S-4.5). It knows no kernel
/// and no clock: the same situations give the same decisions, so that a log can be replayed.
///
/// Overload degrades at once and predictably, the least important chain first; it takes several
/// calm decisions until a chain is restored, and budgets change only if they must. Nothing is
/// reserved on what is in doubt.
class Manager {
 public:
  explicit Manager(Options options = {}) : options_(options) {}

  Decision decide(const Situation& situation);
  [[nodiscard]] const Options& options() const { return options_; }
  /// How many analyses the last decision took.
  [[nodiscard]] std::size_t analyses() const { return analyses_; }

 private:
  /// Chains that may be guaranteed: the first `guaranteed` of those that have a goal.
  struct Level {
    std::vector<std::string> chains;
    std::size_t guaranteed = 0;
    /// How many decisions in a row could guarantee more chains, and the fewest that one of them
    /// could.
    int calm = 0;
    std::size_t next = 0;
  };
  [[nodiscard]] budget::ReservationPlan plan(const model::Model& model, const budget::Cores& cores);
  [[nodiscard]] Result<budget::ReservationPlan> search(const model::Model& model,
                                                       budget::Options options);
  /// The reservations of a plan, larger where that is possible (Options::left).
  [[nodiscard]] std::vector<ReservationDecision> reservations(const model::Model& model,
                                                              const budget::ReservationPlan& plan,
                                                              const Situation& situation);
  /// With these reservations, and execution times longer by the margin, all goals are kept.
  [[nodiscard]] bool keeps_goals(const model::Model& model,
                                 const std::vector<ReservationDecision>& reservations);
  /// Adjusts level_ to what a plan of all chains can guarantee.
  void settle(const std::vector<std::string>& chains, std::size_t possible);
  [[nodiscard]] std::optional<std::vector<ReservationDecision>> kept(
      const model::Model& model, const std::vector<ReservationDecision>& wanted,
      const Situation& situation);

  Options options_;
  Level level_;
  /// The period that was chosen, and the chains that it was chosen for, if none is given.
  std::optional<Duration> period_;
  std::vector<std::string> period_of_;
  Decision last_;
  std::size_t analyses_ = 0;
};

}  // namespace takt::manager
