#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "takt/budget/outlier.hpp"
#include "takt/budget/plan.hpp"
#include "takt/budget/search.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::budget {

/// One proposal for a model some of whose goals are not guaranteed: changes of it, or reservations
/// in place of its supplies.
struct Advice {
  /// The means by which the goal of a chain is guaranteed.
  enum class By {
    /// The first `changes` of the proposal, which a person can make at once.
    changes,
    /// The same, but some of them ask for faster messages or shorter callbacks.
    wishes,
    /// The reservations of the proposal, and all of its changes.
    reservations,
    /// Nothing that was tried.
    nothing,
  };
  struct Remedy {
    /// Index in Model::chains.
    std::size_t chain = 0;
    By by = By::nothing;
    std::size_t changes = 0;
    /// Whether search() may find reservations that guarantee the same. If not, the goal is met as
    /// long as each executor has the processor that its supply says, and nothing guarantees that.
    bool reservable = true;
    /// The chain's bound with it, within the goal.
    std::optional<Duration> bound{};
  };

  /// As with_changes() makes them, each in the model that the ones before have made.
  std::vector<std::string> changes;
  /// How many of the first changes ask for what a person cannot make at once, if reservations are
  /// proposed.
  std::size_t wishes = 0;
  /// All reservations together, of the model with the changes.
  std::optional<ReservationPlan> reservations;
  /// For each goal that the model as it is misses, the most important first.
  std::vector<Remedy> remedies;
  /// Single observations that alone make a goal missed.
  std::vector<Outlier> outliers;
  /// How many analyses it took.
  std::size_t analyses = 0;
};

/// Advice on a valid model. Everything in it holds together: with what is said to guarantee a chain
/// its bound is within the goal, every goal that is met now and every goal of a more important
/// chain of the advice is met, and the cores serve the model (see admit()).
///
/// 1. For one missed goal after the other, the most important first, it makes the cheapest change
///    that guarantees it: a priority, a budget, the kind of an executor, an executor of its own for
///    a callback. search() would not say that there are no reservations for these chains.
/// 2. If some goal is missed still, or several budgets were changed, it looks for reservations as
///    search() does, for all chains together. They are the proposal if they guarantee all goals
///    that are met now, and a more important one of the missed goals than the changes do; if
///    several budgets were changed, also if they guarantee the same goals.
/// 3. Else it looks for reservations for the model with an executor of its own for one callback,
///    the one first that lowers the bound of the most important missed goal most (see
///    own_executors()).
/// 4. Else, for one missed goal after the other, it makes a change as in 1, though there may be no
///    reservations for it.
/// 5. Else, for all goals that are missed still, it limits the delays of messages. If that does not
///    do, it looks for reservations as in 2 and 3 with messages that take model::prompt_delay
///    at most: those to threads that no reservation serves seem to take for as long as these wait.
/// 6. Else it does as in 5 for as many of the most important goals as it can, or shortens all
///    callbacks that their chains depend on. There may be no reservations for that, either.
///
/// Before, it looks for single observations that make a bound (see Outlier).
///
/// All searches together take as many steps as Options::effort says at most, and a few analyses
/// more. `options.find_needs` is of no effect.
[[nodiscard]] Advice advise(const model::Model& model, Options options = {});

/// Advice on this model as a JSON object: `changes`, `wishes`, `reservations` (whether they are the
/// proposal), `analyses`, for each remedy in `remedies` its `chain`, `by`, `changes`, `reservable`
/// and `bound`, and for each of `outliers` its `chain`, `change`, `value`, `at` and `bound`. Times
/// in nanoseconds.
[[nodiscard]] std::string to_json(const model::Model& model, const Advice& advice);

}  // namespace takt::budget
