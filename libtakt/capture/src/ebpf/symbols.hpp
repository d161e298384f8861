#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace takt::capture::ebpf {

/// The positions in its file of the functions of a shared library, in the order of `names`; none
/// for a function that it does not export. The library is open as `file`; one that cannot be read
/// exports none. O(symbols of the library).
[[nodiscard]] std::vector<std::optional<std::uint64_t>> function_offsets(
    int file, std::span<const std::string> names);

}  // namespace takt::capture::ebpf
