#pragma once

#include <random>

#include "takt/model/model.hpp"

namespace takt::model {

/// What a random model may contain.
struct Shape {
  int executors = 1;
  int most_callbacks = 7;
  bool reservations = true;
  bool privileged_timers = false;
  bool curves = false;
  bool trigger_sets = false;
  bool joins = false;
  bool sampling = false;
  ExecutorKind kind = ExecutorKind::single_threaded;
};

/// A random valid model with times of a few ticks to a few hundred, for brute-force execution:
/// bursty and periodic sources, chains through all executors, moderate load.
[[nodiscard]] Model random_model(const Shape& shape, std::mt19937& random);

}  // namespace takt::model
