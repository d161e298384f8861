#include "storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "../descriptor.hpp"

namespace takt::capture::ctf {

namespace {

// More objects than any robot has: beyond this, what calls itself lasting is not.
constexpr std::size_t lasting_limit = std::size_t{256} << 20;

}  // namespace

Result<void> Files::append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                           bool /*lasting*/) {
  const auto path = root_ / file;
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  // Open only now, so that there can be many.
  const Descriptor target(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT,
                               S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  while (target && !bytes.empty()) {
    const ssize_t count = ::write(target.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      break;
    }
    bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  if (!target || !bytes.empty()) {
    return error("{}: cannot be written: {}", path.string(), std::strerror(errno));
  }
  return {};
}

Result<void> Newest::append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                            bool lasting) {
  const std::lock_guard lock(mutex_);
  if (lasting && lasting_size_ + bytes.size() <= lasting_limit) {
    auto& content = lasting_[file];
    content.insert(content.end(), bytes.begin(), bytes.end());
    lasting_size_ += bytes.size();
    return {};
  }
  newest_.push_back({file, {bytes.begin(), bytes.end()}});
  newest_size_ += bytes.size();
  while (newest_size_ > limit_) {
    newest_size_ -= newest_.front().bytes.size();
    newest_.pop_front();
  }
  return {};
}

Result<void> Newest::write(const std::filesystem::path& root) const {
  const std::lock_guard lock(mutex_);
  Files files(root);
  Result<void> written;
  for (const auto& [file, content] : lasting_) {
    written = written.and_then([&] { return files.append(file, content, true); });
  }
  for (const auto& packet : newest_) {
    written = written.and_then([&] { return files.append(packet.file, packet.bytes, false); });
  }
  return written;
}

}  // namespace takt::capture::ctf
