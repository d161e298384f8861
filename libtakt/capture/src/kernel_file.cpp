#include "kernel_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "takt/base/descriptor.hpp"

namespace takt::capture {

std::string read_kernel_file(const std::string& path) {
  constexpr std::size_t limit = std::size_t{64} << 20;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 1 << 14> part{};
  while (file && text.size() < limit) {
    const ssize_t count = read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace takt::capture
