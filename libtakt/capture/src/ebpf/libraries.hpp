#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/descriptor.hpp"

namespace takt::capture::ebpf {

/// A file that programs use as a shared library. Its path may mean something else to us, or
/// nothing: the program may run in a container, or the file may have been replaced since.
struct Library {
  Descriptor file;
  std::filesystem::path path;  // as its users see it
  std::filesystem::path root;  // of its users' file system

  /// A path that means this very file to this process, as long as the object lives.
  [[nodiscard]] std::filesystem::path opened() const;
};

using LibraryPointer = std::shared_ptr<const Library>;

/// The processes that use a shared library whose name begins with `name`, "libtracetools.so", with
/// that library; null: it cannot be opened. Processes that use the same file have the same one.
[[nodiscard]] std::map<pid_t, LibraryPointer> processes_with(std::string_view name);

/// The libraries of this name that programs use, or that a program started here and now would use.
/// `running`: look at what runs, too; otherwise only if nothing is found that a new program would
/// use.
[[nodiscard]] std::vector<LibraryPointer> libraries_named(std::string_view name, bool running);

/// Whether two descriptors are of the same file.
[[nodiscard]] bool is_same_file(const Library& a, const Library& b);

/// Whether only running processes name the library, and no search path of ours. It may be anything
/// then, and what is wrong with it must harm those processes alone.
[[nodiscard]] bool is_brought_along(const Library& library);

/// Version of the package that a tracetools library belongs to or, if that does not tell, of the
/// one that a program started here and now would use; empty: not known.
[[nodiscard]] std::string tracetools_version(const Library& tracetools);

/// Bytes of the gids in the events of a tracetools library: those before 8.4 have more.
[[nodiscard]] unsigned gid_size_of(const Library& tracetools);

}  // namespace takt::capture::ebpf
