#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "callback.hpp"
#include "takt/rclcpp/chain.hpp"
#include "takt/scheduling/description.hpp"

namespace takt::rclcpp {

/// What orders the callbacks of an executor: a rule, and what is declared of entities, which need
/// not be the executor's (yet).
struct Ordering {
  scheduling::Rule rule = scheduling::Rule::first_released;
  /// A larger one is more urgent.
  std::map<Entity, std::int64_t> priorities{};
  /// Relative deadlines, or periods where the rule is rate monotonic.
  std::map<Entity, Duration> deadlines{};
  /// The most important first.
  std::vector<Chain> chains{};
  /// Priorities are those of chains, or follow the periods.
  enum class Priorities { declared, rate_monotonic, of_chains } source = Priorities::declared;
  Duration cycle{};
  std::vector<Slot> slots{};
};

/// The policy that orders these callbacks. Undeclared timers have their period for a deadline;
/// other undeclared callbacks come last. For graph-aware rules timers are roots, and whatever has
/// been declared.
[[nodiscard]] scheduling::PolicyDescription describe(const Ordering& ordering,
                                                     std::span<const Callback> callbacks);

}  // namespace takt::rclcpp
