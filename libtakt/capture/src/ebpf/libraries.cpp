#include "libraries.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "../process.hpp"
#include "../regular_file.hpp"

namespace takt::capture::ebpf {

namespace fs = std::filesystem;

namespace {

// A process can make its list of mappings, and what it calls a library, as long as it likes.
constexpr std::size_t maps_limit = std::size_t{64} << 20;
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

LibraryPointer open_library(const fs::path& file, const fs::path& path, const fs::path& root) {
  auto opened = open_regular_file(file, O_RDONLY);
  struct stat status {};
  if (!opened || fstat(opened.get(), &status) != 0 || status.st_size > library_limit) {
    return nullptr;
  }
  return std::make_shared<Library>(Library{std::move(opened), path, root});
}

/// The library that a program started here and now would load; null if there is none.
LibraryPointer in_search_path(std::string_view name) {
  for (const auto& [variable, folder] :
       {std::pair{"LD_LIBRARY_PATH", "."}, {"AMENT_PREFIX_PATH", "lib"}}) {
    for (const auto& directory : paths_in(variable)) {
      std::error_code none;
      const auto path = fs::canonical(fs::path(directory) / folder / name, none);
      if (auto library = none ? nullptr : open_library(path, path, own_root)) {
        return library;
      }
    }
  }
  return nullptr;
}

/// A line of /proc/PID/maps with a library of that name: where it is mapped, and its path.
struct Mapped {
  std::string range;
  std::string path;
};

std::optional<Mapped> mapped_library(pid_t process, std::string_view name) {
  std::ifstream maps(fmt::format("/proc/{}/maps", process));
  std::size_t read = 0;
  for (std::string line; read < maps_limit && std::getline(maps, line); read += line.size()) {
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
LibraryPointer library_of(pid_t process, const Mapped& mapped) {
  const fs::path directory = fmt::format("/proc/{}", process);
  const fs::path root = directory / "root";
  for (const fs::path& file : {directory / "map_files" / mapped.range,
                               fs::path(root.string() + mapped.path), fs::path(mapped.path)}) {
    if (auto library = open_library(file, mapped.path, root)) {
      return library;
    }
  }
  return nullptr;
}

/// The entry of the list with the same file as the library, which is added if there is none.
LibraryPointer known_as(std::vector<LibraryPointer>& libraries, LibraryPointer library) {
  const auto same = std::ranges::find_if(
      libraries, [&](const LibraryPointer& known) { return is_same_file(*known, *library); });
  if (same != libraries.end()) {
    return *same;
  }
  libraries.push_back(std::move(library));
  return libraries.back();
}

}  // namespace

fs::path Library::opened() const { return fmt::format("/proc/self/fd/{}", file.get()); }

bool is_same_file(const Library& a, const Library& b) {
  struct stat one {};
  struct stat other {};
  return fstat(a.file.get(), &one) == 0 && fstat(b.file.get(), &other) == 0 &&
         one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool is_brought_along(const Library& library) { return library.root.native() != own_root; }

std::map<pid_t, LibraryPointer> processes_with(std::string_view name) {
  std::map<pid_t, LibraryPointer> processes;
  std::vector<LibraryPointer> libraries;
  for_each_other_process([&](pid_t process) {
    if (const auto mapped = mapped_library(process, name)) {
      auto library = library_of(process, *mapped);
      processes[process] = library ? known_as(libraries, std::move(library)) : nullptr;
    }
  });
  return processes;
}

std::vector<LibraryPointer> libraries_named(std::string_view name, bool running) {
  std::vector<LibraryPointer> libraries;
  if (auto library = in_search_path(name)) {
    libraries.push_back(std::move(library));
  }
  if (running || libraries.empty()) {
    for (const auto& [process, library] : processes_with(name)) {
      if (library) {
        known_as(libraries, library);
      }
    }
  }
  return libraries;
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

unsigned gid_size_of(const Library& tracetools) {
  // Gids became shorter a little before the functions that follow service calls were added, and the
  // text of the library shows whether it has those.
  constexpr std::string_view sign = "ros_trace_rmw_take_request";
  std::string piece;
  for (off_t offset = 0;; offset += static_cast<off_t>(piece.size() - sign.size())) {
    piece.resize(std::size_t{1} << 20);
    const ssize_t count = pread(tracetools.file.get(), piece.data(), piece.size(), offset);
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (piece.find(sign) != std::string::npos) {
      return 16;
    }
    if (piece.size() <= sign.size()) {
      return 24;
    }
  }
}

}  // namespace takt::capture::ebpf
