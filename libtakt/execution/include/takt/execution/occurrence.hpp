#pragma once

#include <cstdint>

#include "takt/events/threads.hpp"
#include "takt/time/time.hpp"

namespace takt::execution {

/// When and where an event happened.
struct Occurrence {
  Instant time;
  events::ThreadIndex thread;
  events::ProcessIndex process;
  std::uint16_t cpu = 0;
};

}  // namespace takt::execution
