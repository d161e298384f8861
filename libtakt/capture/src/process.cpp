#include "process.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace takt::capture {

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

std::string environment_of(pid_t process, std::string_view variable) {
  std::ifstream file(fmt::format("/proc/{}/environ", process));
  std::string entry;
  while (std::getline(file, entry, '\0')) {
    if (entry.starts_with(variable) && entry.size() > variable.size() &&
        entry[variable.size()] == '=') {
      return entry.substr(variable.size() + 1);
    }
  }
  return {};
}

}  // namespace takt::capture
