#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace takt {

/// The bytes of each stream file of a recording when it ended, by the file's path within it. `takt
/// record` lists them in a file beside the traces, from which readers learn what a copy lacks.
using StreamSizes = std::map<std::filesystem::path, std::uint64_t>;

/// The name of that file.
inline constexpr std::string_view stream_sizes_file = "takt-streams";

/// Its content: a line for each stream. Files whose names have several lines are left out.
[[nodiscard]] std::string stream_sizes_text(const StreamSizes& sizes);

/// The sizes that a file has; none if it is damaged or was cut short.
[[nodiscard]] std::optional<StreamSizes> parse_stream_sizes(std::string_view text);

}  // namespace takt
