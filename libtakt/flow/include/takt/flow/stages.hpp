#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "takt/execution/instances.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// What a latency is spent on; stages.def says it in words, as docs/flow.md does.
enum class Stage : std::uint8_t {
#define TAKT_STAGE(stage, kind, words, alone, with_other) stage,
#include "takt/flow/stages.def"
#undef TAKT_STAGE
};

/// How a stage is told in words.
struct StageWords {
  std::string_view name;
  std::string_view kind;
  std::string_view words;
  std::string_view alone;
  std::string_view with_other;
};

/// In the order of Stage.
inline constexpr auto stage_words = std::to_array<StageWords>({
#define TAKT_STAGE(stage, kind, words, alone, with_other) {#stage, kind, words, alone, with_other},
#include "takt/flow/stages.def"
#undef TAKT_STAGE
});
inline constexpr std::size_t stages = stage_words.size();

/// The stage's name in documents: "running" and so on.
[[nodiscard]] constexpr std::string_view to_string(Stage stage) {
  return stage_words[static_cast<std::size_t>(stage)].name;
}

inline constexpr std::uint32_t no_actor = UINT32_MAX;

/// A part of a latency. `RunId` names runs, and has a value `none`.
template <typename RunId>
struct BasicPart {
  Stage stage = Stage::running;
  /// The element of the path at which the time passed, or on the way to it.
  std::uint32_t step = 0;
  Duration duration{};
  /// The run that ran, or behind which it waited; none if nothing ran.
  RunId run = RunId::none;
  /// The thread that ran instead.
  std::uint32_t actor = no_actor;
};

/// For how long a run was off its processor in all, where it is not known when: blocked, or ready.
struct Idle {
  Duration blocked{};
  Duration ready{};

  /// By the thread's clock; nothing where the scheduler's events say more.
  static Idle of(const std::optional<execution::Suspended>& suspended) {
    if (!suspended || suspended->by_scheduler) return {};
    return {suspended->time, suspended->ready};
  }
  bool operator==(const Idle&) const = default;
};

/// A time in which a thread was off its processor.
struct Off {
  enum class Why : std::uint8_t {
    preempted,    ///< ready, but another thread ran, or none
    blocked,      ///< not ready
    reservation,  ///< ready, but its reservation was used up: no thread of its class ran instead
  };

  Instant begin;
  Instant end;
  Why why = Why::preempted;
  /// The thread that ran instead; no_actor while it is blocked.
  std::uint32_t actor = no_actor;
};

}  // namespace takt::flow
