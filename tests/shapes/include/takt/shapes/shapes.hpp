#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "takt/model/model.hpp"

/// Models of one shape and any size: for tests and benchmarks of how cost grows.
namespace takt::shapes {

/// `count` timers of many periods, 10 ms to 0.9 s, on one executor, which together need `percent`
/// of it. Priorities fall from the first to the last; deadlines are the periods.
[[nodiscard]] model::Model independent(model::ExecutorKind kind, std::int64_t count,
                                       std::int64_t percent);

/// A chain of `length` callbacks that passes through each of some executors in turn, every 100 ms.
[[nodiscard]] model::Model chain(model::ExecutorKind kind, std::size_t length,
                                 std::size_t executors);

/// On one executor, joins of which each joins the one before with a source of its own.
[[nodiscard]] model::Model nested_joins(model::JoinKind kind, std::size_t count);

/// On one executor, callbacks that the one before and a source of their own activate, each by
/// itself: the last one is activated by as many sources as there are. Each takes 1 ns every 100 s
/// and more, for that is often.
[[nodiscard]] model::Model confluence(model::ExecutorKind kind, std::size_t count);

/// How callbacks depend on each other.
enum class Structure {
  independent,
  chain,         ///< a chain through 10 executors, one after the other
  fan_out,       ///< a tree on one executor, in which each callback sends to ten others
  nested_joins,  ///< on one executor, newest-value joins of the one before with a timer
  cycle,         ///< a chain that goes round 10 executors, again and again
};
inline constexpr std::array structures{Structure::independent, Structure::chain, Structure::fan_out,
                                       Structure::nested_joins, Structure::cycle};
[[nodiscard]] std::string_view to_string(Structure structure);

/// `count` callbacks of that structure on executors of that kind, each of which needs `percent` of
/// a processor.
[[nodiscard]] model::Model structured(model::ExecutorKind kind, Structure structure,
                                      std::size_t count, std::int64_t percent);

}  // namespace takt::shapes
