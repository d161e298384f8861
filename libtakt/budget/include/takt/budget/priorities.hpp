#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// Fixed priorities for the callbacks of a model, of which bounds say what they guarantee.
namespace takt::budget {

/// What gives callbacks their priorities.
enum class PriorityRule {
  declared,            ///< the model, where it has priorities
  rate_monotonic,      ///< the shorter the period, own or inherited, the more urgent
  deadline_monotonic,  ///< the shorter the deadline, the more urgent; see callback_deadlines()
  chain_priority,      ///< chains by rank, then by goal; within a chain the end first (PiCAS)
  audsley,             ///< Audsley's algorithm, from the least urgent up; see assign_priorities()
};

[[nodiscard]] std::string_view to_string(PriorityRule rule);

/// The model with the priorities of one rule, and what they guarantee.
struct PriorityAssignment {
  PriorityRule rule{};
  /// All executors of ROS in it decide by fixed priorities.
  model::Model model;
  /// By chain.
  std::vector<std::optional<Duration>> bounds;
  /// How many chains keep their goals for certain.
  std::size_t guaranteed = 0;
};

/// The relative deadline of each callback: the shortest goal of the chains that it is in; its own
/// deadline, or its period, if it is in none with a goal. None: nothing says one.
[[nodiscard]] std::vector<std::optional<Duration>> callback_deadlines(const model::Model& model);

/// The assignments of all rules, in their order; `declared` only if a callback has a priority.
///
/// Audsley's algorithm fills each executor's priorities from the least urgent up, with the first
/// callback, the one of the longest deadline before others, whose chains keep their goals there; if
/// there is none, with the one that does the least harm. Bounds of chains depend on the order of
/// what is more urgent, too, which the algorithm presumes that they do not: it is no optimum in
/// itself. So it begins with the best of the other orders, raises chains that miss their goals, and
/// tries all orders if there are at most `most_orders`; it never guarantees fewer chains than
/// another rule, nor, up to 6 callbacks on one executor, than any other order.
///
/// The search ends after about `effort` steps of analyses. Precondition: a chain has a goal.
/// Errors: an executor of the model cannot decide by fixed priorities.
[[nodiscard]] Result<std::vector<PriorityAssignment>> assign_priorities(
    const model::Model& model, const analysis::Options& options, std::int64_t effort);

/// 6!
inline constexpr std::size_t most_orders = 720;

/// The assignment that guarantees the most chains; the first one of those.
[[nodiscard]] const PriorityAssignment& best(const std::vector<PriorityAssignment>& assignments);

/// A JSON list: of each its `rule`, `guaranteed` and `bounds` in nanoseconds by chain.
[[nodiscard]] std::string to_json(const std::vector<PriorityAssignment>& assignments);

}  // namespace takt::budget
