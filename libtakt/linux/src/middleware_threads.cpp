#include "takt/linux/middleware_threads.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace takt::linux_os {

namespace {

constexpr std::string_view fast_dds = "dds.";

/// Cyclone DDS's names are common words. Only it has a thread of this name.
constexpr std::string_view cyclone_discovery = "dq.builtins";

/// Cyclone DDS: "recv", "recvMC" and "recvUC" receive, "tev" sends what is due, "dq.user" delivers,
/// and a channel has threads of its own, "tev.NAME", "dq.NAME" and "xmit.NAME".
bool is_of_cyclone(std::string_view name) {
  constexpr std::array<std::string_view, 7> whole{"recv",  "recvMC", "recvUC", "tev",
                                                  "lease", "gc",     "fsm"};
  constexpr std::array<std::string_view, 3> beginnings{"dq.", "tev.", "xmit."};
  return std::ranges::count(whole, name) != 0 ||
         std::ranges::any_of(beginnings, [&](auto b) { return name.starts_with(b); });
}

/// Fast DDS: one announces the process every three seconds, for half a millisecond, and repeats
/// lost messages; the other one sends what need not be sent at once. Cyclone DDS: what is due at
/// times, leases, garbage, discovery.
bool is_chore(const ThreadIdentity& thread) {
  constexpr std::array<std::string_view, 3> whole{"lease", "gc", "fsm"};
  constexpr std::array<std::string_view, 4> beginnings{"dds.ev", "dds.asyn", "tev", "dq.builtins"};
  const std::string name = name_of(thread);
  return std::ranges::count(whole, name) != 0 ||
         std::ranges::any_of(beginnings, [&](auto b) { return name.starts_with(b); });
}

}  // namespace

std::vector<ThreadIdentity> middleware_threads(pid_t process) {
  auto threads = threads_named(process, "");
  const bool has_cyclone = !threads_named(process, cyclone_discovery).empty();
  std::erase_if(threads, [&](const ThreadIdentity& thread) {
    const std::string name = name_of(thread);
    return !name.starts_with(fast_dds) && !(has_cyclone && is_of_cyclone(name));
  });
  return threads;
}

std::vector<ThreadIdentity> delivering_threads(pid_t process) {
  auto threads = middleware_threads(process);
  std::erase_if(threads, is_chore);
  return threads;
}

std::vector<ThreadIdentity> middleware_chores(pid_t process) {
  auto threads = middleware_threads(process);
  std::erase_if(threads, [](const ThreadIdentity& thread) { return !is_chore(thread); });
  return threads;
}

}  // namespace takt::linux_os
