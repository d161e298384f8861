#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace takt::capture::ebpf {

/// The files that programs use, or that a program started here and now would use, as a shared
/// library whose name begins with `name`: "libtracetools.so". `running`: look at what runs, too;
/// otherwise only if nothing is found that a new program would use.
[[nodiscard]] std::set<std::filesystem::path> libraries_named(std::string_view name, bool running);

/// The processes that use such a library, with its path.
[[nodiscard]] std::map<pid_t, std::filesystem::path> processes_with(std::string_view name);

/// Version of the tracetools that a process was started with, or would be if it were started here;
/// empty: not known.
[[nodiscard]] std::string tracetools_version(pid_t process);

/// Bytes of the gids in the events of a tracetools library: those before 8.4 have more.
[[nodiscard]] unsigned gid_size_of(const std::filesystem::path& tracetools);

}  // namespace takt::capture::ebpf
