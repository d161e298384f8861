#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace takt::events {

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) {
    const int code = errno;
    if (file >= 0) {
      close(file);
    }
    return error("{}: cannot be read: {}", path.string(), std::strerror(code));
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = nullptr;
  if (size != 0) {
    memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  const int code = errno;
  close(file);
  if (memory == MAP_FAILED) {
    return error("{}: cannot be read: {}", path.string(), std::strerror(code));
  }
  if (size != 0) {
    madvise(memory, size, MADV_SEQUENTIAL);
  }
  return MappedFile({static_cast<const std::uint8_t*>(memory), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
  }
}

void MappedFile::forget(std::uint64_t begin, std::uint64_t end) const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  begin = (begin + page - 1) / page * page;
  end = end / page * page;
  if (begin < end && end <= bytes_.size()) {
    madvise(const_cast<std::uint8_t*>(bytes_.data()) + begin, end - begin, MADV_DONTNEED);
  }
}

}  // namespace takt::events
