#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "takt/budget/search.hpp"
#include "takt/manager/decision.hpp"
#include "takt/manager/situation.hpp"

namespace takt::manager {

struct Options {
  /// Percent by which execution times may grow beyond what was seen without a goal being missed.
  int margin = 10;
  /// A chain that was degraded is guaranteed again when so many decisions in a row could do it;
  /// twice as many each time that it was degraded again soon (`soon`).
  int calm = 2;
  static constexpr int most_calm = 64;
  /// Times as many decisions as its return took.
  static constexpr int soon = 4;
  /// Budgets stay as they are as long as they are enough, and take no more than this many percent
  /// more bandwidth than new ones would; no more at all after the kernel has refused some.
  int spare = 20;
  /// Budgets may be larger than the goals need, but leave this many percent of each core to all
  /// other programs. 100: budgets are as small as the goals allow.
  int left = 25;
  /// All reservations have this period. None: it is chosen when the chains change, or fewer can be
  /// guaranteed.
  std::optional<Duration> period = budget::default_period;
  /// How many steps of analysis the search for advice may take for each callback, a tenth of what
  /// `takt budget` takes at most: it goes to the manager's own budget.
  std::int64_t advice_effort = budget::effort_per_callback / 10;
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
  /// Whether the last decision had no room for all goals: not only that a chain waits until there
  /// has been room for a while.
  [[nodiscard]] bool lacks_room() const { return lacks_room_; }
  /// What would guarantee the first chain that the last decision had no room for; none: it had room
  /// for all. It is looked for when another chain is the first, or the plan has another basis, and
  /// then with every tenth decision.
  [[nodiscard]] const std::optional<Advice>& advice() const { return advice_; }
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
    /// How many of them it takes, for how many decisions more chains have been guaranteed since
    /// then, and whether there was such a return.
    int patience = 0;
    int held = 0;
    bool returned = false;
  };
  [[nodiscard]] budget::ReservationPlan plan(const model::Model& model, const budget::Cores& cores);
  [[nodiscard]] Result<budget::ReservationPlan> search(const model::Model& model,
                                                       budget::Options options);
  /// The reservations of a plan, larger where that is possible (Options::left).
  [[nodiscard]] std::vector<ReservationDecision> reservations(const model::Model& model,
                                                              const budget::ReservationPlan& plan,
                                                              const Situation& situation);
  /// These reservations, but none smaller than at the decision before, if there is room: messages
  /// on their way have then what their bounds rest on.
  [[nodiscard]] std::vector<ReservationDecision> not_yet_smaller(
      const model::Model& model, const std::vector<ReservationDecision>& wanted,
      const Situation& situation) const;
  /// Adds reservations for chains that are degraded, the most important first, where they fit
  /// beside the others and the chain has a bound with them: those of the last decision, else
  /// second_best_. Best effort would leave the processor to programs that nobody manages.
  void keep_for_degraded(const model::Model& model, const Situation& situation,
                         std::vector<ReservationDecision>& grounds);
  /// With these reservations, and execution times longer by the margin, all goals are kept.
  [[nodiscard]] bool keeps_goals(const model::Model& model,
                                 const std::vector<ReservationDecision>& reservations);
  /// What a plan was made for, besides the times of the model.
  struct Basis {
    std::vector<std::pair<std::string, std::int64_t>> executors;
    struct Goal {
      std::string chain;
      std::optional<Duration> goal;
      std::optional<std::int64_t> rank;
      bool operator==(const Goal&) const = default;
    };
    std::vector<Goal> chains;
    std::vector<int> cores;
    std::vector<int> pinnable;
    std::vector<double> taken;
    bool operator==(const Basis&) const = default;
  };
  [[nodiscard]] static Basis basis_of(const model::Model& model, const budget::Cores& cores);
  /// Whether the last plan guarantees all chains of this model, too, with what is reserved. A
  /// search takes some hundred analyses, this takes one. A new search is due where callbacks take
  /// much less than it knew, and now and then, because smaller budgets may be enough.
  [[nodiscard]] bool still_holds(const model::Model& model, const Situation& situation);
  /// Renews advice_ and second_best_, if it is due.
  void advise(const model::Model& model, const Situation& situation);
  [[nodiscard]] budget::Options search_options(const budget::Cores& cores) const;
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
  /// The grounds of the last decision of an earlier time: of one that is refused, none is carried
  /// out.
  std::vector<ReservationDecision> earlier_;
  budget::ReservationPlan plan_;
  Basis basis_;
  /// The longest runs of all callbacks of the plan's model together.
  Duration work_{};
  /// How many decisions rest on the plan beside the first.
  int reuses_ = 0;
  std::optional<Advice> advice_;
  /// Reservations that would guarantee the chain of the advice the least goal that can be kept.
  std::vector<ReservationDecision> second_best_;
  /// What the advice rests on, and for how many decisions it has served beside the first.
  Basis advice_basis_;
  budget::ChainPlan::State advice_state_{};
  int advice_reuses_ = 0;
  std::size_t analyses_ = 0;
  bool lacks_room_ = false;
  /// What people call executors, by their ids; of those that have ended, what they were called.
  std::map<std::string, std::string> labels_;
};

}  // namespace takt::manager
