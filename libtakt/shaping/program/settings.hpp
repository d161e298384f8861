#pragma once

#include <sys/types.h>

#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/shaping/placement.hpp"
#include "takt/time/time.hpp"

namespace takt::shaping {

/// What `takt apply --dispatch` asks of the program, as the JSON object of its one argument.
struct Settings {
  /// Threads are those of the processes in its session, and of all that descend from these.
  pid_t leader = 0;
  Duration cycle{};
  /// In order, apart and within the cycle, at least one.
  std::vector<Slot> slots;
  /// SCHED_FIFO priorities, 1 to 99: of main threads inside slots, of the other threads always, and
  /// of the dispatcher itself.
  int inside = 50;
  int middleware = 60;
  int priority = 95;
};

[[nodiscard]] Result<Settings> parse_settings(std::string_view text);

}  // namespace takt::shaping
