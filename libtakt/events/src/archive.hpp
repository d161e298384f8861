#pragma once

#include <cstdint>
#include <filesystem>

#include "takt/base/error.hpp"
#include "temporary_directory.hpp"

namespace takt::events {

/// Unpacks a tar archive (plain, gzip, xz, zstd, bzip2) into a temporary directory. The archive is
/// not trusted: only files and directories below the target are written, at most `limit` bytes.
[[nodiscard]] Result<TemporaryDirectory> unpack(const std::filesystem::path& archive,
                                                std::uint64_t limit);

}  // namespace takt::events
