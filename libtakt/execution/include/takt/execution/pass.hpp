#pragma once

#include <cstdint>
#include <functional>

#include "takt/events/event_stream.hpp"
#include "takt/execution/interpreter.hpp"

namespace takt::execution {

/// Is called with how far reading has come (events::EventStream::Position). May throw to stop.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Figures of one pass over a trace.
struct Pass {
  std::uint64_t events = 0;  // of known types
  /// Times of the first and the last event of a known type.
  Instant first{};
  Instant last{};
  /// Time spent in reading and in interpreting.
  double read_seconds = 0;
  double interpret_seconds = 0;
};

/// Reads a batch and interprets it. Returns false at the end, after Interpreter::finish().
bool advance(events::EventStream& source, Interpreter& interpreter, events::Batch& batch,
             Pass& pass);

/// Reads the source to its end and interprets it. `progress` may be empty.
Pass run(events::EventStream& source, Interpreter& interpreter, const Progress& progress);

}  // namespace takt::execution
