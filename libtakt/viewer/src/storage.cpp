#include "takt/viewer/storage.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <system_error>
#include <utility>

namespace takt::viewer {
namespace {

/// Bytes that an index leaves free on a disk, or a twentieth of a small one.
constexpr std::uintmax_t reserve = std::uintmax_t{512} << 20;

/// Sizes of rooms are multiples of this, which is one of the size of a page.
constexpr std::size_t granule = std::size_t{64} << 10;

[[noreturn]] void fail(const std::filesystem::path& folder, int reason) {
  throw StorageError(fmt::format("{}: the index cannot be kept: {}; name another folder for it",
                                 folder.parent_path().string(), std::strerror(reason)));
}

/// A new file that has no name.
int unnamed_file(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) {
    return file;
  }
  // Not every file system has files without a name.
  std::string name = (folder / "memory.XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named < 0) {
    fail(folder, errno);
  }
  unlink(name.c_str());
  return named;
}

}  // namespace

Room::~Room() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
  if (file_ >= 0) {
    close(file_);
  }
}

Room::Room(Room&& other) noexcept
    : folder_(std::move(other.folder_)),
      file_(std::exchange(other.file_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

Room& Room::operator=(Room&& other) noexcept {
  std::swap(folder_, other.folder_);
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void Room::grow(std::size_t bytes) {
  if (bytes <= size_) {
    return;
  }
  // A quarter more than before: nothing is copied, and little space is taken in vain.
  const std::size_t wanted = std::max(bytes, size_ + size_ / 4);
  const std::size_t size = (wanted + granule - 1) / granule * granule;
  if (!folder_.empty()) {
    take_space(size);
  }
  const int sharing = file_ < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const place = data_ == nullptr
                          ? mmap(nullptr, size, PROT_READ | PROT_WRITE, sharing, file_, 0)
                          : mremap(data_, size_, size, MREMAP_MAYMOVE);
  if (place == MAP_FAILED) {
    throw std::bad_alloc();
  }
  data_ = static_cast<std::byte*>(place);
  size_ = size;
}

void Room::take_space(std::size_t bytes) {
  if (file_ < 0) {
    file_ = unnamed_file(folder_);
  }
  std::error_code unknown;
  const auto space = std::filesystem::space(folder_, unknown);
  if (!unknown && space.available < bytes - size_ + std::min(reserve, space.capacity / 20)) {
    fail(folder_, ENOSPC);
  }
  int reason = 0;
  do {
    reason = posix_fallocate(file_, static_cast<off_t>(size_), static_cast<off_t>(bytes - size_));
  } while (reason == EINTR);
  if (reason != 0) {
    fail(folder_, reason);
  }
}

}  // namespace takt::viewer
