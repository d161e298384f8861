#pragma once

#include <array>
#include <span>

#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ebpf {

/// A function of Fast DDS whose second argument is a message, by its mangled name.
struct MiddlewareFunction {
  tracepoints::EventType event;
  const char* symbol;
};

/// A version of Fast DDS: its library, and where a message has its source timestamp.
struct Middleware {
  const char* library;
  unsigned time_offset;
  std::array<MiddlewareFunction, 3> functions;
};

/// The versions whose functions are known.
[[nodiscard]] std::span<const Middleware> middlewares();

}  // namespace takt::capture::ebpf
