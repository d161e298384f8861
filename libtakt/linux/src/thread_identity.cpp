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

/// Whether a thread has this number in the innermost of its namespaces (proc(5), status, NSpid).
bool knows_itself_as(pid_t process, pid_t thread, pid_t number) {
  constexpr std::string_view field = "NSpid:";
  std::ifstream file(fmt::format("/proc/{}/task/{}/status", process, thread));
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(field)) continue;
    std::istringstream numbers(line.substr(field.size()));
    pid_t own = 0;
    while (numbers >> own) {
    }
    return own == number;
  }
  return false;
}

/// The threads that a process has now, by their names in /proc.
std::vector<pid_t> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  std::error_code gone;  // threads come and go
  for (auto entry =
           std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), gone);
       !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    const std::string number = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(number.data(), number.data() + number.size(), thread);
    threads.push_back(thread);
  }
  return threads;
}

}  // namespace

std::optional<ThreadIdentity> identify(pid_t process, pid_t thread) {
  const auto start = statistic(process, thread, 22);
  if (!start) return std::nullopt;
  return ThreadIdentity{process, thread, *start};
}

std::optional<ThreadIdentity> identify_by_own_number(pid_t process, pid_t number) {
  if (knows_itself_as(process, number, number)) return identify(process, number);
  for (const pid_t thread : threads_of(process)) {
    if (knows_itself_as(process, thread, number)) return identify(process, thread);
  }
  return std::nullopt;
}

std::optional<int> processor_of(const ThreadIdentity& thread) {
  const auto processor = statistic(thread.process, thread.thread, 39);
  if (!processor || !is_alive(thread)) return std::nullopt;
  return static_cast<int>(*processor);
}

std::string name_of(const ThreadIdentity& thread) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/comm", thread.process, thread.thread));
  std::string name;
  std::getline(file, name);
  return is_alive(thread) ? name : "";
}

std::vector<ThreadIdentity> threads_named(pid_t process, std::string_view beginning) {
  std::vector<ThreadIdentity> result;
  for (const pid_t thread : threads_of(process)) {
    const auto found = identify(process, thread);
    if (found && name_of(*found).starts_with(beginning)) result.push_back(*found);
  }
  return result;
}

}  // namespace takt::linux_os
