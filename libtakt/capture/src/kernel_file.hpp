#pragma once

#include <string>

namespace takt::capture {

/// The text of a file that the kernel makes, such as those in /proc: at most 64 MiB of it, since a
/// process can make its own as long as it likes. Empty if it cannot be read. A program that another
/// thread starts meanwhile does not inherit the descriptor, as it would that of a std::ifstream.
[[nodiscard]] std::string read_kernel_file(const std::string& path);

}  // namespace takt::capture
