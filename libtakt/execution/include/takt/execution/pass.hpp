#pragma once

#include <cstdint>
#include <functional>

#include "takt/events/source.hpp"
#include "takt/execution/interpreter.hpp"

namespace takt::execution {

/// Told how far reading has come, see events::Source::Position. May throw to stop.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// What one pass over a trace was like.
struct Pass {
  std::uint64_t events = 0;  // of known types
  /// Times of the first and the last event of a known type.
  Instant first{};
  Instant last{};
  /// Time spent in reading and in interpreting.
  double read_seconds = 0;
  double interpret_seconds = 0;
};

/// Reads a batch and has it interpreted. False at the end, when the interpreter has finished.
bool advance(events::Source& source, Interpreter& interpreter, events::Batch& batch, Pass& pass);

/// Reads the source to its end and has it interpreted. `progress` may be empty.
Pass run(events::Source& source, Interpreter& interpreter, const Progress& progress);

}  // namespace takt::execution
