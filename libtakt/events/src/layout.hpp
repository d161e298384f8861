#pragma once

#include <filesystem>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/source.hpp"

namespace takt::events {

/// The directories at or below `root` that hold a CTF trace (a file named "metadata"), sorted.
/// Does not follow symbolic links. `name` is what messages call the root.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_traces(
    const std::filesystem::path& root, const std::string& name);

/// The files of a trace directory that hold packets, sorted.
[[nodiscard]] std::vector<std::filesystem::path> stream_files(
    const std::filesystem::path& directory);

/// Size and fingerprint of the traces in `directories`, under the name the user gave.
[[nodiscard]] Input describe(const std::string& name,
                             const std::vector<std::filesystem::path>& directories);

/// The text of the metadata of a trace's directory. Errors: cannot be read, damaged packets.
[[nodiscard]] Result<std::string> read_metadata(const std::filesystem::path& directory);

}  // namespace takt::events
