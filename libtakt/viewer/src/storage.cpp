#include "takt/viewer/storage.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <string>
#include <system_error>

namespace takt::viewer {
namespace {

/// A new file that has no name; -1 if there can be none.
int unnamed_file(const std::filesystem::path& folder) {
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) {
    return file;
  }
  // Not every file system has files without a name.
  std::string name = (folder / "memory.XXXXXX").string();
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) {
    unlink(name.c_str());
  }
  return named;
}

}  // namespace

void* FileMemory::do_allocate(std::size_t bytes, std::size_t /*alignment*/) {
  const int file = unnamed_file(folder_);
  if (file < 0) {
    throw std::bad_alloc();
  }
  void* place = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  close(file);
  if (place == MAP_FAILED) {
    throw std::bad_alloc();
  }
  return place;
}

void FileMemory::do_deallocate(void* place, std::size_t bytes, std::size_t /*alignment*/) {
  munmap(place, bytes);
}

Result<void> Storage::check_space() const {
  if (!on_disk()) {
    return {};
  }
  std::error_code failure;
  const auto space = std::filesystem::space(folder_, failure);
  if (!failure && space.available < reserve) {
    return error("{}: less than {} MiB of disk are free; free some, or name another folder",
                 folder_.parent_path().string(), reserve >> 20);
  }
  return {};
}

}  // namespace takt::viewer
