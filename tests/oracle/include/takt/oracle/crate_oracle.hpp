#pragma once

#include <optional>
#include <span>
#include <vector>

#include "takt/analysis/analyze.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

/// The Rust crate response-time-analysis 0.3.2 as an oracle for our bounds. tests/oracle/crate is
/// the program that calls it.
namespace takt::oracle {

/// How the crate's busy-window analysis counts polling points.
enum class PollingPoints {
  /// By ros-llama Def. 5: with the ordinary curve, and none for privileged callbacks.
  definition,
  /// As the crate does: with the busy-window curve, and for privileged callbacks too.
  crate,
};

struct Question {
  /// Default executors and event sources, without joins and overheads. Must outlive the question.
  const model::Model* model = nullptr;
  analysis::Options options;
  PollingPoints polling_points = PollingPoints::definition;
  /// The time is that of the fastest of so many runs.
  int repetitions = 1;
};

/// In the order of the model; none: diverged, and then all did.
struct Answer {
  std::vector<std::optional<Duration>> callbacks;
  std::vector<std::optional<Duration>> chains;
  /// Processor time from the model to all bounds.
  Duration elapsed{};
  /// Of this, the last round alone: the crate's time if its caller knew the result beforehand.
  Duration last_round{};
};

/// The answers to all questions; none if the program could not be built on this machine.
[[nodiscard]] std::optional<std::vector<Answer>> ask_crate(std::span<const Question> questions);

}  // namespace takt::oracle
