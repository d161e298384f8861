#include "takt/execution/schedule.hpp"

#include <array>
#include <utility>

namespace takt::execution {

std::string_view to_string(Schedule::Policy policy) {
  constexpr std::array<std::string_view, 8> names{"unknown",   "other", "fifo", "rr",
                                                  "real_time", "batch", "idle", "deadline"};
  return names[static_cast<std::size_t>(policy)];
}

Schedule::Policy policy_of(std::int64_t number) {
  using enum Schedule::Policy;
  constexpr std::array<std::pair<std::int64_t, Schedule::Policy>, 6> policies{
      {{0, other}, {1, fifo}, {2, rr}, {3, batch}, {5, idle}, {6, deadline}}};
  for (const auto& [known, policy] : policies) {
    if (known == number) return policy;
  }
  return unknown;
}

}  // namespace takt::execution
