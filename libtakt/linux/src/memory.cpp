#include "takt/linux/memory.hpp"

#include <alloca.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "takt/base/try.hpp"

namespace takt::linux_os {

namespace {

constexpr std::size_t page = 4096;

void touch(volatile char* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += page) memory[i] = 0;
}

Result<void> lock(int what) {
  if (mlockall(what) == 0) return {};
  const char* reason = std::strerror(errno);
  return error(
      "cannot lock memory ({}): raise the limit (`ulimit -l unlimited`) or give the "
      "program CAP_IPC_LOCK",
      reason);
}

}  // namespace

Result<void> lock_memory() {
  TAKT_TRY(lock(MCL_CURRENT | MCL_FUTURE));
  // Freed memory stays, and large blocks come from the same heap instead of new mappings.
  mallopt(M_TRIM_THRESHOLD, -1);
  mallopt(M_MMAP_MAX, 0);
  return {};
}

Result<void> keep_memory() { return lock(MCL_CURRENT | MCL_ONFAULT); }

[[gnu::noinline]] void prefault_stack(std::size_t bytes) {
  touch(static_cast<volatile char*>(alloca(bytes)), bytes);
}

void prefault_heap(std::size_t bytes) {
  using Piece = std::array<char, page>;
  std::vector<std::unique_ptr<Piece>> pieces(bytes / page);
  for (std::unique_ptr<Piece>& piece : pieces) {
    piece = std::make_unique_for_overwrite<Piece>();
    touch(piece->data(), page);
  }
}

}  // namespace takt::linux_os
