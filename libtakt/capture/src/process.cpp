#include "process.hpp"

#include <fmt/format.h>

#include <fstream>

namespace takt::capture {

std::string program_of(pid_t process) {
  std::string name;
  std::ifstream file(fmt::format("/proc/{}/comm", process));
  std::getline(file, name);
  return name;
}

}  // namespace takt::capture
