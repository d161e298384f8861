#include "storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "takt/base/descriptor.hpp"

namespace takt::capture::ctf {

namespace {

// More than the objects of any robot. Beyond this, lasting packets are kept like all others.
constexpr std::size_t lasting_limit = std::size_t{256} << 20;

Error cannot_write(const std::filesystem::path& path) {
  return Error{fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno))};
}

/// Removes a packet that was written in part: readers would have to guess where it ends, and
/// metadata without its end says nothing.
void take_back(const std::filesystem::path& path, int file, off_t size) {
  if (size == 0 || ftruncate(file, size) != 0) {
    unlink(path.c_str());
  }
}

}  // namespace

bool Files::append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                   bool /*lasting*/) {
  if (!written()) {
    return false;
  }
  const auto path = root_ / file;
  std::error_code failed;
  std::filesystem::create_directories(path.parent_path(), failed);
  // Open only now, so that there can be many.
  const Descriptor target(open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_CREAT,
                               S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  struct stat before {};
  if (!target || fstat(target.get(), &before) != 0) {
    fail(cannot_write(path));
    return false;
  }
  while (!bytes.empty()) {
    const ssize_t count = ::write(target.get(), bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) {
      fail(cannot_write(path));
      take_back(path, target.get(), before.st_size);
      return false;
    }
    bytes = bytes.subspan(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  return true;
}

Result<void> Files::written() const {
  const std::scoped_lock lock(mutex_);
  return written_;
}

void Files::fail(Error error) {
  const std::scoped_lock lock(mutex_);
  if (written_) {
    written_ = tl::unexpected(std::move(error));
  }
}

bool Newest::append(const std::filesystem::path& file, std::span<const std::byte> bytes,
                    bool lasting) {
  const std::scoped_lock lock(mutex_);
  if (lasting && lasting_size_ + bytes.size() <= lasting_limit) {
    auto& content = lasting_[file];
    content.insert(content.end(), bytes.begin(), bytes.end());
    lasting_size_ += bytes.size();
    return true;
  }
  newest_.push_back({file, {bytes.begin(), bytes.end()}});
  newest_size_ += bytes.size();
  while (newest_size_ > limit_) {
    newest_size_ -= newest_.front().bytes.size();
    newest_.pop_front();
  }
  return true;
}

Result<void> Newest::write(const std::filesystem::path& root) const {
  const std::scoped_lock lock(mutex_);
  Files files(root);
  bool written = true;
  for (const auto& [file, content] : lasting_) {
    written = written && files.append(file, content, true);
  }
  for (const auto& packet : newest_) {
    written = written && files.append(packet.file, packet.bytes, false);
  }
  return files.written();
}

}  // namespace takt::capture::ctf
