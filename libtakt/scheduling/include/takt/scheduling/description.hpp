#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/timer_handling.hpp"
#include "takt/base/window_place.hpp"
#include "takt/scheduling/chain_edf.hpp"
#include "takt/scheduling/policy.hpp"
#include "takt/scheduling/table_driven.hpp"
#include "takt/scheduling/wait_set.hpp"

namespace takt::scheduling {

/// The rules that decide which callback runs next; takt/base/executor_kinds.def lists them.
enum class Rule {
#define TAKT_EXECUTOR_KIND(kind, traits, rules) rules
#define TAKT_DECISION_RULE(rule) rule,
#include "takt/base/executor_kinds.def"
#undef TAKT_DECISION_RULE
#undef TAKT_EXECUTOR_KIND
};

/// The rule's name in documents.
[[nodiscard]] std::string_view to_string(Rule rule);

/// The rule of that name; none if there is no such rule.
[[nodiscard]] std::optional<Rule> rule_from_string(std::string_view name);

/// The names of all rules, for messages: "ready_set, first_released, …".
[[nodiscard]] std::string rule_names();

/// A policy with its parameters as plain values, as plans contain it and as it is derived from a
/// timing model.
struct PolicyDescription {
  /// The values of a callback without a priority or a deadline: it comes after all others.
  static constexpr std::int64_t least_priority = std::numeric_limits<std::int64_t>::min() + 1;
  static constexpr Duration longest_deadline = std::chrono::hours(24 * 365 * 100);

  struct Callback {
    Category category = Category::timer;
    /// Only ready_set reads it, and `category` where places are equal.
    WindowPlace place{};
    std::int64_t priority = least_priority;
    Duration deadline = longest_deadline;
    /// Whether it is activated from outside the executor. Graph-aware policies order only these.
    bool is_root = true;
  };

  Rule rule = Rule::first_released;
  /// Only ready_set reads it.
  TimerHandling timers = TimerHandling::polled;
  /// For ready_set: the order that places leave open is drawn anew at each polling point, from this
  /// seed. None: always by category, then in the order of `callbacks`.
  std::optional<std::uint64_t> shuffle{};
  /// Deadlines count from an instance's own activation instead of its origin's.
  bool own_origin = false;
  std::vector<Callback> callbacks{};
  /// Only the rules for chains read them. A callback that is in none is a chain of its own.
  std::vector<ChainEdfPolicy::Chain> chains{};
  /// Only table reads these.
  Duration cycle{};
  std::vector<TableDrivenPolicy::Slot> slots{};
};

/// Makes the policy. `capacity`: how many instances may wait at once before memory is allocated.
[[nodiscard]] std::unique_ptr<Policy> make_policy(const PolicyDescription& description,
                                                  std::size_t capacity);

}  // namespace takt::scheduling
