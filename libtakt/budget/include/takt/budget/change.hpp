#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Changes of a model that an owner might make to meet a goal, as `takt analyze --what-if` takes
/// them.
namespace takt::budget {

/// budget(EXECUTOR)=3ms: a new budget of its reservation, in the same period.
struct NewBudget {
  model::ExecutorIndex executor;
  Duration budget{};
};

/// reserve(EXECUTOR)=3ms/5ms: a reservation of that budget in each period.
struct NewReservation {
  model::ExecutorIndex executor;
  Duration budget{};
  Duration period{};
};

/// priority(CALLBACK)=7.
struct NewPriority {
  model::CallbackIndex callback;
  std::int64_t priority = 0;
};

/// executor(EXECUTOR)=edf, or executor=edf for all executors of ROS.
struct NewKind {
  std::optional<model::ExecutorIndex> executor;
  model::ExecutorKind kind{};
};

/// order(EXECUTOR)=unknown, or order=unknown for all executors of ROS.
struct NewOrder {
  std::optional<model::ExecutorIndex> executor;
  model::CallbackOrder order{};
};

/// split(CALLBACK) or split(NODE): these callbacks get an executor of their own.
struct Split {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
};

/// move(CALLBACK)=EXECUTOR, or move(NODE)=EXECUTOR: these callbacks run on that executor,
/// registered after its own.
struct Move {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
  model::ExecutorIndex to;
};

/// time(CALLBACK)=3ms, or of all callbacks of a node or an executor: each instance takes at most so
/// much of a processor's time; what it suspends itself for comes in addition.
struct LongestTime {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
  Duration time{};
};

/// execution_time(CALLBACK)=66%, or of all callbacks of a node or an executor: so much of their
/// present execution times.
struct NewExecutionTime {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
  int percent = 100;
};

/// suspension(CALLBACK)=0%, or of all callbacks of a node or an executor: so much of the present
/// times for which they suspend themselves; 0%: they do not.
struct NewSuspension {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
  int percent = 100;
};

/// period(CALLBACK)=12ms: of its own activations, or their least separation.
struct NewPeriod {
  model::CallbackIndex callback;
  Duration period{};
};

/// delay=2ms: no message between callbacks takes longer, its time on a link aside.
struct LongestDelay {
  Duration delay{};
};

/// goal(CHAIN)=120ms.
struct NewGoal {
  std::size_t chain = 0;
  Duration goal{};
};

/// without(overhead of EXECUTOR): what the model would be without one observation of its recording
/// (takt/budget/outlier.hpp); also execution_time, suspension or activation of CALLBACK, delay of
/// CALLBACK to CALLBACK.
struct Without {
  struct Overhead {
    model::ExecutorIndex executor;
  };
  struct ExecutionTime {
    model::CallbackIndex callback;
  };
  struct Suspension {
    model::CallbackIndex callback;
  };
  struct Activation {
    model::CallbackIndex callback;
  };
  struct Delay {
    model::CallbackIndex from;
    model::CallbackIndex to;
  };
  std::string of;
  std::variant<Overhead, ExecutionTime, Suspension, Activation, Delay> target;
  /// The curve without it, or the longest of all other delays.
  std::vector<Duration> values;
};

using Change = std::variant<NewBudget, NewReservation, NewPriority, NewKind, NewOrder, Split, Move,
                            LongestTime, NewExecutionTime, NewSuspension, NewPeriod, LongestDelay,
                            NewGoal, Without>;

/// Reads "executor=edf, budget(e1)=3ms, split(/node)" for that model. A node names the executor
/// that all of its callbacks run on. Errors name what is not understood, or not in the model.
[[nodiscard]] Result<std::vector<Change>> parse_changes(std::string_view text,
                                                        const model::Model& model);

/// The change as parse_changes() reads it.
[[nodiscard]] std::string to_string(const Change& change, const model::Model& model);
/// The changes, separated by commas.
[[nodiscard]] std::string to_string(std::span<const Change> changes, const model::Model& model);

/// The period of a callback's own activations, or their least separation; none: it has neither.
[[nodiscard]] std::optional<Duration> period_of(const model::Callback& callback);
/// The activation of such a callback, with another period.
[[nodiscard]] model::Activation with_period(model::Activation activation, Duration period);

/// All execution times on the executors on which the bounds of chains depend (see influencing()),
/// to this percentage. `chains` are indices in Model::chains.
[[nodiscard]] std::vector<Change> shorter_callbacks(const model::Model& model,
                                                    std::span<const std::size_t> chains,
                                                    int percent);

/// Changes a valid model, which stays valid.
///
/// Split callbacks get an executor of the kind of their present one (single-threaded instead of
/// multi-threaded), with the same supply, on another processor. Messages that passed within an
/// executor and no longer do take at least as long as the model's slowest message between
/// executors.
[[nodiscard]] Result<void> apply(const Change& change, model::Model& model);

/// The model with changes as parse_changes() reads them, made one after the other: a change may
/// name what an earlier one has made. Errors are those of parse_changes() and apply().
[[nodiscard]] Result<model::Model> with_changes(std::string_view text, model::Model model);

}  // namespace takt::budget
