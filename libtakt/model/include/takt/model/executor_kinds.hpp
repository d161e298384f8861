#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// The kinds of executors and what tells them apart; takt/base/executor_kinds.def lists them.
namespace takt::model {

enum class ExecutorKind {
#define TAKT_EXECUTOR_KIND(kind, traits, rules) kind,
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
};

/// Properties of a kind, for code that serves all kinds.
enum class ExecutorTrait : std::uint8_t {
  none = 0,
  /// Runs on an rcl wait set; all others run on the events executor.
  wait_set = 1,
  /// May have several threads.
  several_threads = 2,
  /// A thread of its own releases timers and messages (model::Executor::release_overhead).
  release_thread = 4,
  /// Decides by a table of slots (model::Executor::table).
  table = 8,
  /// Stands for a device outside ROS: it is not chosen, planned or run like an executor.
  outside_ros = 16,
};

constexpr ExecutorTrait operator|(ExecutorTrait a, ExecutorTrait b) {
  return static_cast<ExecutorTrait>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

[[nodiscard]] constexpr bool has(ExecutorKind kind, ExecutorTrait trait) {
  using enum ExecutorTrait;
  constexpr auto traits_of = std::to_array<ExecutorTrait>({
#define TAKT_EXECUTOR_KIND(kind, traits, rules) traits,
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
  });
  const auto traits = static_cast<std::uint8_t>(traits_of[static_cast<std::size_t>(kind)]);
  return (traits & static_cast<std::uint8_t>(trait)) != 0;
}

}  // namespace takt::model
