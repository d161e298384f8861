#pragma once

#include <cstddef>
#include <cstdint>

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

}  // namespace takt::shapes
