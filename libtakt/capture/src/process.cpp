#include "process.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "kernel_file.hpp"

namespace takt::capture {

namespace {

/// A number from /proc/PID/stat, by its place there, which is above 3; none: the process is gone.
template <typename Number>
std::optional<Number> field_of(pid_t process, int place) {
  const std::string text = read_kernel_file(fmt::format("/proc/{}/stat", process));
  const auto name_end = text.rfind(')');  // the name may hold anything
  std::istringstream fields(name_end != std::string::npos ? text.substr(name_end + 1) : "");
  std::string skipped;
  for (int field = 3; field < place; ++field) {
    fields >> skipped;
  }
  Number number = 0;
  return fields >> number ? std::optional(number) : std::nullopt;
}

}  // namespace

void for_each_other_process(const std::function<void(pid_t)>& use) {
  namespace fs = std::filesystem;
  std::error_code gone;
  for (auto entry = fs::directory_iterator("/proc", gone);
       !gone && entry != fs::directory_iterator(); entry.increment(gone)) {
    const std::string number = entry->path().filename();
    pid_t process = 0;
    std::from_chars(number.data(), number.data() + number.size(), process);
    if (process > 0 && process != getpid()) {
      use(process);
    }
  }
}

pid_t own_number_of(pid_t process) {
  std::istringstream status(read_kernel_file(fmt::format("/proc/{}/status", process)));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("NSpid:")) {  // from the outermost namespace to the process's own
      pid_t number = 0;
      const auto last = line.find_last_of("\t ") + 1;
      std::from_chars(line.data() + last, line.data() + line.size(), number);
      return number;
    }
  }
  return start_of(process) != 0 ? process : 0;  // a kernel without namespaces of processes
}

OwnName own_name_of(pid_t process) {
  struct stat status {};
  const bool is_known = stat(fmt::format("/proc/{}/ns/pid", process).c_str(), &status) == 0;
  const pid_t number = own_number_of(process);
  return {number == 0 ? process : number, is_known ? status.st_ino : 0};
}

bool sees_all_processes() {
  // The outermost namespaces have fixed numbers, see linux/proc_ns.h. Old kernels have none of
  // time.
  const auto is_in = [](const char* kind, const char* outermost) {
    std::error_code unknown;
    const auto mine = std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", kind), unknown);
    return mine.empty() || mine == outermost;
  };
  constexpr pid_t init = 1;
  return is_in("pid", "pid:[4026531836]") && is_in("time", "time:[4026531834]") &&
         start_of(init) != 0;
}

std::uint32_t inner_name_space() {
  constexpr std::uint32_t outermost = 4026531836;  // linux/proc_ns.h
  struct stat status {};
  if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == outermost) return 0;
  return static_cast<std::uint32_t>(status.st_ino);
}

std::optional<Scheduling> scheduling_of(pid_t thread) {
  // The number of a thread has a folder, too, as if it were a process's.
  std::istringstream status(read_kernel_file(fmt::format("/proc/{}/status", thread)));
  constexpr std::string_view key = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const auto priority = field_of<int>(thread, 40);
    const auto policy = field_of<int>(thread, 41);
    if (!policy || !priority) return std::nullopt;  // it has ended since
    const auto begin = line.find_first_not_of("\t ", key.size());
    return Scheduling{*policy, *priority, begin == std::string::npos ? "" : line.substr(begin)};
  }
  return std::nullopt;
}

bool was_started_with(pid_t process, std::string_view variable, std::string_view value) {
  const std::string wanted = fmt::format("{}={}", variable, value);
  std::istringstream environment(read_kernel_file(fmt::format("/proc/{}/environ", process)));
  for (std::string entry; std::getline(environment, entry, '\0');) {
    if (entry == wanted) return true;
  }
  return false;
}

std::string program_of(pid_t process) {
  const std::string name = read_kernel_file(fmt::format("/proc/{}/comm", process));
  return name.substr(0, name.find('\n'));
}

std::string file_name_of(pid_t process) {
  std::string name = program_of(process);
  for (char& character : name) {
    const bool plain = (character >= 'a' && character <= 'z') ||
                       (character >= 'A' && character <= 'Z') ||
                       (character >= '0' && character <= '9') || character == '-';
    character = plain ? character : '_';
  }
  return name;
}

std::uint64_t start_of(pid_t process) {
  constexpr int start_time = 22;
  return field_of<std::uint64_t>(process, start_time).value_or(0);
}

pid_t parent_of(pid_t process) {
  constexpr int parent = 4;
  return field_of<pid_t>(process, parent).value_or(0);
}

bool is_descendant(pid_t process) {
  constexpr int deepest = 1000;  // numbers may be used again meanwhile: no circle is followed
  for (int i = 0; i < deepest && process > 1; ++i) {
    process = parent_of(process);
    if (process == getpid()) return true;
  }
  return false;
}

}  // namespace takt::capture
