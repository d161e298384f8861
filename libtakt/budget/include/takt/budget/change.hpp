#pragma once

#include <cstdint>
#include <optional>
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

/// split(CALLBACK) or split(NODE): these callbacks get an executor of their own.
struct Split {
  std::string of;
  std::vector<model::CallbackIndex> callbacks;
};

using Change = std::variant<NewBudget, NewPriority, NewKind, Split>;

/// Reads "executor=edf, budget(e1)=3ms, split(/node)" for that model. Errors name what is not
/// understood, or not in the model.
[[nodiscard]] Result<std::vector<Change>> parse_changes(std::string_view text,
                                                        const model::Model& model);

/// The change as parse_changes() reads it.
[[nodiscard]] std::string to_string(const Change& change, const model::Model& model);

/// Changes a valid model, which stays valid.
///
/// Split callbacks get an executor of the kind of their present one (single-threaded instead of
/// multi-threaded), with the same supply, on another processor. Messages between them and the
/// callbacks that stay take at least as long as the model's slowest message between executors.
[[nodiscard]] Result<void> apply(const Change& change, model::Model& model);

}  // namespace takt::budget
