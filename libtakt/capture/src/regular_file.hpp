#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "takt/base/descriptor.hpp"

namespace takt::capture {

/// Opens a file that somebody else may have put there to harm its reader: a pipe would make the
/// reader wait for ever, and opening a device can do anything. No descriptor if it is not a regular
/// file. `flags` as for open().
[[nodiscard]] Descriptor open_regular_file(const std::filesystem::path& path, int flags);

/// The bytes of such a file; none if there is no such file or it has more than `limit` bytes.
[[nodiscard]] std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                                           std::size_t limit);

}  // namespace takt::capture
