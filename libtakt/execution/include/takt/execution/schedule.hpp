#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace takt::execution {

/// How the kernel schedules a thread, as far as the recording shows it.
struct Schedule {
  enum class Policy : std::uint8_t {
    unknown,
    other,
    fifo,
    rr,
    /// fifo or rr, between which the scheduler's switches do not distinguish.
    real_time,
    batch,
    idle,
    deadline,
  };
  Policy policy = Policy::unknown;
  /// 1 to 99 of the real-time policies; 0 of others.
  std::int64_t priority = 0;
  /// Those that it may run on, "0-3,6"; empty: not known.
  std::string cores;
  /// How often this has changed while it was recorded.
  std::uint64_t changes = 0;
};

/// "fifo", "real_time".
[[nodiscard]] std::string_view to_string(Schedule::Policy policy);
/// By the number that the kernel has for it (sched(7)).
[[nodiscard]] Schedule::Policy policy_of(std::int64_t number);

}  // namespace takt::execution
