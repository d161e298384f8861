#pragma once

#include <sys/types.h>

#include <compare>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "takt/base/descriptor.hpp"
#include "takt/base/error.hpp"

namespace takt::capture::ebpf {

/// Says which file is meant, without keeping it open: a robot's user can bring any number of them.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;

  auto operator<=>(const FileIdentity&) const = default;
};

/// A file that programs use as a shared library. Its path may mean something else to us, or
/// nothing: the program may run in a container, or the file may have been replaced since.
struct Library {
  Descriptor file;
  std::filesystem::path path;  // as its users see it
  std::filesystem::path root;  // of its users' file system
  FileIdentity identity;

  /// A path that means this very file to this process, as long as the object lives.
  [[nodiscard]] std::filesystem::path opened() const;
};

/// The processes that use a shared library whose name begins with `name`, "libtracetools.so", with
/// the library's file; none: it cannot be opened.
[[nodiscard]] std::map<pid_t, std::optional<FileIdentity>> processes_with(std::string_view name);

/// What only rclpy's programs have mapped, by the beginning of its name.
inline constexpr std::string_view rclpy = "_rclpy_pybind11";

/// The file of the library of that name that a process uses; none: it cannot be opened.
[[nodiscard]] std::optional<FileIdentity> library_used_by(pid_t process, std::string_view name);

/// Whether a process has mapped a file whose name begins with `name`. False if nobody may know.
[[nodiscard]] bool uses_library(pid_t process, std::string_view name);

/// Calls `use` once with each library of this name that programs use, or that is in a search path
/// of ours: the first is the one that a program started here and now would use, the others those of
/// programs with another order of these paths. One at a time is open. `running`: look at what runs,
/// too; otherwise only if nothing is in the search paths. An error of `use` ends it.
[[nodiscard]] Result<void> for_each_library(std::string_view name, bool running,
                                            const std::function<Result<void>(const Library&)>& use);

/// Whether only running processes name the library, and no search path of ours. It may be anything
/// then, and what is wrong with it must harm those processes alone.
[[nodiscard]] bool is_brought_along(const Library& library);

/// Version of the package that a tracetools library belongs to or, if that does not tell, of the
/// one that a program started here and now would use; empty: not known.
[[nodiscard]] std::string tracetools_version(const Library& tracetools);

}  // namespace takt::capture::ebpf
