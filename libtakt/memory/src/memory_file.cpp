#include "takt/memory/memory_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

namespace takt::memory {

namespace {

/// The size and the pages stay, and nobody else can map the file for writing.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

/// Maps all pages at once: a page that is first used while a chunk is copied would delay the chunk.
std::optional<Mapping> map_all(int file, std::size_t bytes, int protection) {
  void* const at = mmap(nullptr, bytes, protection, MAP_SHARED | MAP_POPULATE, file, 0);
  if (at == MAP_FAILED) return std::nullopt;
  return Mapping(std::span(static_cast<std::byte*>(at), bytes));
}

}  // namespace

Mapping::~Mapping() {
  if (!pages_.empty()) munmap(pages_.data(), pages_.size());
}

Result<OwnMemory> OwnMemory::make(std::size_t bytes) {
  const auto failed = [&] { return error("{} bytes to share: {}", bytes, std::strerror(errno)); };
  Descriptor file(memfd_create("takt", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  // Takes the pages now, so that memory that is full is an error here and no signal later.
  if (!file || fallocate(file.get(), 0, 0, static_cast<off_t>(bytes)) != 0) return failed();
  auto mapping = map_all(file.get(), bytes, PROT_READ | PROT_WRITE);
  if (!mapping || fcntl(file.get(), F_ADD_SEALS, seals) != 0) return failed();
  return OwnMemory(std::move(file), std::move(*mapping));
}

std::optional<PeerMemory> PeerMemory::map(const Descriptor& file, std::size_t least,
                                          std::size_t most) {
  // Pages of another file system may go missing, or may have to be waited for.
  struct statfs system {};
  struct stat status {};
  const int found = fcntl(file.get(), F_GET_SEALS);
  if (found < 0 || (found & seals) != seals || fstatfs(file.get(), &system) != 0 ||
      system.f_type != TMPFS_MAGIC || fstat(file.get(), &status) != 0) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (status.st_size < 0 || bytes < least || bytes > most) return std::nullopt;
  // A page that is missing is made by whoever reads it. With these seals none can be given back.
  constexpr std::size_t unit = 512;  // of st_blocks
  if (static_cast<std::size_t>(status.st_blocks) < bytes / unit) return std::nullopt;
  auto mapping = map_all(file.get(), bytes, PROT_READ);
  if (!mapping) return std::nullopt;
  return PeerMemory(std::move(*mapping));
}

}  // namespace takt::memory
