#include "libraries.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "../kernel_file.hpp"
#include "../process.hpp"
#include "../regular_file.hpp"

namespace takt::capture::ebpf {

namespace fs = std::filesystem;

namespace {

// A process can make what it calls a library as long as it likes.
constexpr off_t library_limit = off_t{256} << 20;
constexpr std::size_t package_limit = std::size_t{1} << 20;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) {
    parts.push_back(part);
  }
  return parts;
}

std::vector<std::string> paths_in(const char* variable) {
  const char* value = std::getenv(variable);
  return split(value != nullptr ? value : "");
}

constexpr std::string_view own_root = "/";

std::optional<Library> open_library(const fs::path& file, const fs::path& path,
                                    const fs::path& root) {
  auto opened = open_regular_file(file, O_RDONLY);
  struct stat status {};
  if (!opened || fstat(opened.get(), &status) != 0 || status.st_size > library_limit) {
    return std::nullopt;
  }
  return Library{std::move(opened), path, root, {status.st_dev, status.st_ino}};
}

/// Calls `use` with the libraries in the search paths, the one that a program started here and now
/// would load first.
void for_each_in_search_paths(std::string_view name,
                              const std::function<void(const Library&)>& use) {
  for (const auto& [variable, folder] :
       {std::pair{"LD_LIBRARY_PATH", "."}, {"AMENT_PREFIX_PATH", "lib"}}) {
    for (const auto& directory : paths_in(variable)) {
      std::error_code none;
      const auto path = fs::canonical(fs::path(directory) / folder / name, none);
      if (auto library = none ? std::nullopt : open_library(path, path, own_root)) use(*library);
    }
  }
}

/// A line of /proc/PID/maps with a library of that name: where it is mapped, and its path.
struct Mapped {
  std::string range;
  std::string path;
};

std::optional<Mapped> mapped_library(pid_t process, std::string_view name) {
  std::istringstream maps(read_kernel_file(fmt::format("/proc/{}/maps", process)));
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.rfind('/');
    if (slash != std::string::npos && std::string_view(line).substr(slash + 1).starts_with(name)) {
      constexpr std::string_view replaced = " (deleted)";
      if (line.ends_with(replaced)) {
        line.erase(line.size() - replaced.size());
      }
      return Mapped{line.substr(0, line.find(' ')), line.substr(line.find('/'))};
    }
  }
  return std::nullopt;
}

/// The file that a process has mapped: the mapping's own, which may need more privileges, or the
/// one of its path, seen from the process's root or from ours.
std::optional<Library> library_of(pid_t process, const Mapped& mapped) {
  const fs::path directory = fmt::format("/proc/{}", process);
  const fs::path root = directory / "root";
  for (const fs::path& file : {directory / "map_files" / mapped.range,
                               fs::path(root.string() + mapped.path), fs::path(mapped.path)}) {
    if (auto library = open_library(file, mapped.path, root)) {
      return library;
    }
  }
  return std::nullopt;
}

/// Calls `use` with every process that uses a shared library of that name, and the library, if it
/// can be opened.
void for_each_user(std::string_view name,
                   const std::function<void(pid_t, const std::optional<Library>&)>& use) {
  for_each_other_process([&](pid_t process) {
    if (const auto mapped = mapped_library(process, name)) {
      use(process, library_of(process, *mapped));
    }
  });
}

}  // namespace

fs::path Library::opened() const { return fmt::format("/proc/self/fd/{}", file.get()); }

bool is_brought_along(const Library& library) { return library.root.native() != own_root; }

bool uses_library(pid_t process, std::string_view name) {
  return mapped_library(process, name).has_value();
}

std::optional<FileIdentity> library_used_by(pid_t process, std::string_view name) {
  const auto mapped = mapped_library(process, name);
  const auto library = mapped ? library_of(process, *mapped) : std::nullopt;
  return library ? std::optional(library->identity) : std::nullopt;
}

std::map<pid_t, std::optional<FileIdentity>> processes_with(std::string_view name) {
  std::map<pid_t, std::optional<FileIdentity>> processes;
  for_each_user(name, [&](pid_t process, const std::optional<Library>& library) {
    processes[process] = library ? std::optional(library->identity) : std::nullopt;
  });
  return processes;
}

Result<void> for_each_library(std::string_view name, bool running,
                              const std::function<Result<void>(const Library&)>& use) {
  std::set<FileIdentity> known;
  Result<void> used;
  const auto use_once = [&](const Library& library) {
    if (used && known.insert(library.identity).second) used = use(library);
  };
  for_each_in_search_paths(name, [&](const Library& library) { use_once(library); });
  if (running || known.empty()) {
    for_each_user(name, [&](pid_t /*process*/, const auto& library) {
      if (library) use_once(*library);
    });
  }
  return used;
}

std::string tracetools_version(const Library& tracetools) {
  // The package has the same prefix as the library, PREFIX/lib/libtracetools.so.
  std::vector<fs::path> packages{tracetools.root.string() +
                                 (tracetools.path.parent_path().parent_path()).string()};
  for (const auto& prefix : paths_in("AMENT_PREFIX_PATH")) {
    packages.emplace_back(prefix);
  }
  for (const auto& prefix : packages) {
    const auto text = read_regular_file(prefix / "share/tracetools/package.xml", package_limit);
    const auto begin = text ? text->find("<version>") : std::string::npos;
    if (begin != std::string::npos) {
      const auto end = text->find('<', begin + 9);
      return text->substr(begin + 9, std::min<std::size_t>(end - begin - 9, 32));
    }
  }
  return {};
}

}  // namespace takt::capture::ebpf
