#include "decision_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace takt::manager {

Result<DecisionLog> DecisionLog::create(std::string path) {
  std::error_code ignored;
  // A device, a pipe or a folder is nothing to be removed.
  if (const auto former = std::filesystem::status(path, ignored);
      std::filesystem::exists(former) && !std::filesystem::is_regular_file(former)) {
    return error("{}: cannot be written: it is no regular file; name another for the log", path);
  }
  std::filesystem::remove(path, ignored);
  Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return error("{}: cannot be written: {}", path, std::strerror(errno));
  return DecisionLog(std::move(path), std::move(file));
}

Result<void> DecisionLog::append(std::string_view line) {
  if (missing_ > 0) {
    ++missing_;
    return {};
  }
  while (!line.empty()) {
    const ssize_t size = write(file_.get(), line.data(), line.size());
    if (size >= 0) {
      line.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EINTR) {
      ++missing_;
      return error("{}: cannot be written: {}", path_, std::strerror(errno));
    }
  }
  return {};
}

}  // namespace takt::manager
