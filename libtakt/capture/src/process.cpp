#include "process.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace takt::capture {

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
  std::ifstream status(fmt::format("/proc/{}/status", process));
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

std::string program_of(pid_t process) {
  std::string name;
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::getline(file, name);
  return name;
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
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto name_end = text.rfind(')');  // the name may hold anything
  std::istringstream fields(name_end != std::string::npos ? text.substr(name_end + 1) : "");
  std::string skipped;
  for (int field = 3; field < 22; ++field) {
    fields >> skipped;
  }
  std::uint64_t start = 0;
  fields >> start;
  return start;
}

}  // namespace takt::capture
