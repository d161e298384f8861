#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"

namespace takt::events {

/// The contents of the files of this name in an archive (tar, plain or compressed, or zip) that lie
/// at most `depth` folders deep, in the archive's order: at most `most` of them, each cut after
/// `size` bytes. Takes as long as the archive takes to unpack. The archive is not trusted: it is
/// read by a process of its own in bounded memory. What cannot be read of it is as if it were not
/// there. `waiting` is called meanwhile and may throw.
[[nodiscard]] std::vector<std::string> archived_files(const std::filesystem::path& archive,
                                                      const std::string& name, std::size_t depth,
                                                      std::size_t most, std::size_t size,
                                                      const std::function<void()>& waiting = {});

/// Unpacks an archive into an existing directory, as takt::events::open() does. Errors: it is
/// damaged, lies about its contents, or is larger than `limit` bytes or what the disk has.
[[nodiscard]] Result<void> unpack_archive(const std::filesystem::path& archive,
                                          const std::filesystem::path& directory,
                                          std::uint64_t limit,
                                          const std::function<void()>& waiting = {});

}  // namespace takt::events
