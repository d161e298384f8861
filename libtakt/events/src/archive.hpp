#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "takt/base/error.hpp"
#include "temporary_directory.hpp"

namespace takt::events {

/// Unpacks a tar archive (plain, gzip, xz, zstd, bzip2) into a temporary directory. The archive is
/// not trusted: it is unpacked by a process of its own in bounded memory; only files and
/// directories below the target are written, at most `limit` bytes and at most 256 times the
/// archive's size or a gibibyte. `waiting` is called meanwhile and may throw.
[[nodiscard]] Result<TemporaryDirectory> unpack(const std::filesystem::path& archive,
                                                std::uint64_t limit,
                                                const std::function<void()>& waiting = {});

/// The same into an existing directory and by this process, for callers that are isolated already.
[[nodiscard]] Result<void> unpack_into(const std::filesystem::path& archive,
                                       const std::filesystem::path& target, std::uint64_t limit);

}  // namespace takt::events
