#include "takt/ctf/storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "takt/base/descriptor.hpp"

namespace takt::ctf {

namespace {

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
                   Kept /*kept*/) {
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
                    Kept kept) {
  const std::scoped_lock lock(mutex_);
  if (kept == Kept::with_their_trace ||
      (kept == Kept::while_room && lasting_size_ + bytes.size() <= lasting_limit_)) {
    Lasting& lasting = lasting_[file.parent_path()];
    auto& content = lasting.files[file];
    content.insert(content.end(), bytes.begin(), bytes.end());
    lasting.size += bytes.size();
    lasting_size_ += bytes.size();
    return true;
  }
  newest_.push_back({file, {bytes.begin(), bytes.end()}, kept});
  newest_size_ += bytes.size();
  while (newest_size_ > limit_) {
    drop_oldest();
  }
  return true;
}

void Newest::complete(const std::filesystem::path& directory) {
  const std::scoped_lock lock(mutex_);
  const auto ended = lasting_.find(directory);
  if (ended == lasting_.end()) {
    return;
  }
  lasting_size_ -= ended->second.size;
  complete_size_ += ended->second.size;
  newest_.push_back({directory, {}, Kept::with_their_trace});
  while (complete_size_ > lasting_limit_) {
    lost_packets_ += newest_.front().kept == Kept::with_their_trace ? 1U : 0U;
    drop_oldest();
  }
}

std::uint64_t Newest::lost_packets() const {
  const std::scoped_lock lock(mutex_);
  return lost_packets_;
}

void Newest::drop_oldest() {
  const Packet& oldest = newest_.front();
  newest_size_ -= oldest.bytes.size();
  lost_packets_ += oldest.kept == Kept::while_room ? 1U : 0U;
  if (oldest.kept == Kept::with_their_trace) {  // all packets of that trace were before its end
    const auto ended = lasting_.find(oldest.file);
    complete_size_ -= ended->second.size;
    lasting_.erase(ended);
  }
  newest_.pop_front();
}

Result<void> Newest::write(const std::filesystem::path& root) const {
  const std::scoped_lock lock(mutex_);
  Files files(root);
  bool written = true;
  for (const auto& [directory, lasting] : lasting_) {
    for (const auto& [file, content] : lasting.files) {
      written = written && files.append(file, content, Kept::with_their_trace);
    }
  }
  for (const auto& packet : newest_) {
    written = written && (packet.kept == Kept::with_their_trace ||
                          files.append(packet.file, packet.bytes, packet.kept));
  }
  return files.written();
}

}  // namespace takt::ctf
