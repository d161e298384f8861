#include "takt/linux/thread_identity.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

namespace takt::linux_os {

namespace {

/// A field of a thread's statistics by its number in proc(5), from 4 on; none if it is gone.
std::optional<std::uint64_t> statistic(pid_t process, pid_t thread, int number) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/stat", process, thread));
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // The name, in parentheses, may hold anything; field 3 follows it.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  std::string skipped;
  for (int i = 3; i < number; ++i) fields >> skipped;
  std::uint64_t value = 0;
  if (!(fields >> value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<ThreadIdentity> identify(pid_t process, pid_t thread) {
  const auto start = statistic(process, thread, 22);
  if (!start) return std::nullopt;
  return ThreadIdentity{process, thread, *start};
}

std::optional<int> processor_of(const ThreadIdentity& thread) {
  const auto processor = statistic(thread.process, thread.thread, 39);
  if (!processor || !is_alive(thread)) return std::nullopt;
  return static_cast<int>(*processor);
}

std::vector<ThreadIdentity> threads_named(pid_t process, std::string_view beginning) {
  std::vector<ThreadIdentity> result;
  std::error_code gone;  // threads come and go
  for (auto entry =
           std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone);
       !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    if (!name.starts_with(beginning)) continue;
    const std::string number = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(number.data(), number.data() + number.size(), thread);
    if (const auto found = identify(process, thread)) result.push_back(*found);
  }
  return result;
}

}  // namespace takt::linux_os
