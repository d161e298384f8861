#include "takt/domains/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace takt::domains {

Result<std::unique_ptr<HostMemory>> HostMemory::make(Bytes limit) {
  void* const at =
      mmap(nullptr, limit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return error("{} bytes of addresses: {}", limit, strerror(errno));
  memory::Mapping mapping(std::span(static_cast<std::byte*>(at), limit));
  return std::unique_ptr<HostMemory>(new HostMemory(std::move(mapping)));
}

Result<void> HostMemory::provide(Bytes bytes) {
  if (bytes <= provided_) return {};
  const auto reserved = mapping_.pages();
  if (bytes > reserved.size()) {
    return error("{} bytes of host memory: more than the {} that were reserved", bytes,
                 reserved.size());
  }
  // The pages are taken now, and not at the first message that needs them.
  std::byte* const added = reserved.data() + provided_;
  if (mprotect(added, bytes - provided_, PROT_READ | PROT_WRITE) != 0 ||
      madvise(added, bytes - provided_, MADV_POPULATE_WRITE) != 0) {
    return error("{} bytes of host memory: {}", bytes, strerror(errno));
  }
  provided_ = bytes;
  return {};
}

Result<void> HostMemory::copy_to(Offset to, std::span<const std::byte> from) {
  std::ranges::copy(from, on_host().subspan(to).begin());
  return {};
}

Result<void> HostMemory::copy_from(Offset from, std::span<std::byte> to) {
  std::ranges::copy(on_host().subspan(from, to.size()), to.begin());
  return {};
}

}  // namespace takt::domains
