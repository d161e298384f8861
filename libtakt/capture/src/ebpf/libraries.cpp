#include "libraries.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "../process.hpp"

namespace takt::capture::ebpf {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) {
    parts.push_back(part);
  }
  return parts;
}

/// The library that a program started here and now would load; empty if there is none.
fs::path in_search_path(std::string_view name) {
  for (const auto& [variable, folder] :
       {std::pair{"LD_LIBRARY_PATH", "."}, {"AMENT_PREFIX_PATH", "lib"}}) {
    const char* value = std::getenv(variable);
    for (const auto& directory : split(value != nullptr ? value : "")) {
      std::error_code none;
      const auto path = fs::canonical(fs::path(directory) / folder / name, none);
      if (!none) {
        return path;
      }
    }
  }
  return {};
}

}  // namespace

std::set<fs::path> libraries_named(std::string_view name, bool running) {
  std::set<fs::path> libraries;
  if (const auto library = in_search_path(name); !library.empty()) {
    libraries.insert(library);
  }
  if (running || libraries.empty()) {
    for (const auto& [process, library] : processes_with(name)) {
      std::error_code gone;
      if (const auto path = fs::canonical(library, gone); !gone) {
        libraries.insert(path);
      }
    }
  }
  return libraries;
}

std::map<pid_t, fs::path> processes_with(std::string_view name) {
  std::map<pid_t, fs::path> processes;
  std::error_code gone;
  for (auto process = fs::directory_iterator("/proc", gone); process != fs::directory_iterator();
       process.increment(gone)) {
    const std::string number = process->path().filename();
    pid_t pid = 0;
    std::from_chars(number.data(), number.data() + number.size(), pid);
    std::ifstream maps(process->path() / "maps");
    for (std::string line; pid != 0 && std::getline(maps, line);) {
      const auto slash = line.rfind('/');
      if (slash != std::string::npos &&
          std::string_view(line).substr(slash + 1).starts_with(name)) {
        // Through the process's root, which may be a container's.
        processes[pid] = process->path().string() + "/root" + line.substr(line.find('/'));
      }
    }
  }
  return processes;
}

std::string tracetools_version(pid_t process) {
  auto prefixes = environment_of(process, "AMENT_PREFIX_PATH");
  if (prefixes.empty()) {  // it has ended already; most likely it was started from here
    prefixes = environment_of(getpid(), "AMENT_PREFIX_PATH");
  }
  for (const auto& prefix : split(prefixes)) {
    std::ifstream package(fs::path(prefix) / "share/tracetools/package.xml");
    for (std::string line; std::getline(package, line);) {
      const auto begin = line.find("<version>");
      if (begin != std::string::npos) {
        return line.substr(begin + 9, line.find('<', begin + 9) - begin - 9);
      }
    }
  }
  return {};
}

unsigned gid_size_of(const fs::path& tracetools) {
  // The identifiers became shorter a little before the functions came that follow service calls;
  // the library's text tells which are there.
  std::ifstream file(tracetools, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.find("ros_trace_rmw_take_request") != std::string::npos ? 16 : 24;
}

}  // namespace takt::capture::ebpf
