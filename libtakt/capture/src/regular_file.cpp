#include "regular_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace takt::capture {

Descriptor open_regular_file(const std::filesystem::path& path, int flags) {
  // The first descriptor only names the file: the file is looked at before it is really opened.
  const Descriptor named(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat status {};
  if (!named || fstat(named.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return {};
  }
  const auto same = fmt::format("/proc/self/fd/{}", named.get());
  return Descriptor(open(same.c_str(), flags | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

std::optional<std::string> read_regular_file(const std::filesystem::path& path, std::size_t limit) {
  const auto file = open_regular_file(path, O_RDONLY);
  std::string bytes;
  while (file && bytes.size() <= limit) {
    const auto before = bytes.size();
    bytes.resize(before + std::min<std::size_t>(limit + 1 - before, std::size_t{1} << 20));
    const ssize_t count = read(file.get(), bytes.data() + before, bytes.size() - before);
    if (count < 0 && errno != EINTR) {
      return std::nullopt;
    }
    bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) {
      return bytes;
    }
  }
  return std::nullopt;
}

}  // namespace takt::capture
