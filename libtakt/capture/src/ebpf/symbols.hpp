#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace takt::capture::ebpf {

/// Positions in a library's file; none for a function that it does not export.
using FunctionOffsets = std::vector<std::optional<std::uint64_t>>;

/// The positions of the functions of a shared library, in the order of `names`. The library is open
/// as `file`; one that cannot be read exports none. O(symbols of the library).
[[nodiscard]] FunctionOffsets function_offsets(int file, std::span<const std::string> names);

/// The same for a library that anybody may have made. A separate process reads it, because its
/// tables can say that they are of any size. None: that took too much memory or time.
[[nodiscard]] std::optional<FunctionOffsets> untrusted_function_offsets(
    int file, std::span<const std::string> names);

}  // namespace takt::capture::ebpf
