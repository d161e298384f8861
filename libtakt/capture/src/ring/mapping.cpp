#include "takt/capture/ring/mapping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "takt/capture/ring/writer.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ring {

using tracepoints::Kind;

namespace {

/// How many slots a ring has whose memory has this size; 0: it is none.
std::uint64_t slots_in(std::uint64_t size) {
  for (std::uint64_t slots = least_slot_count; slots <= most_slot_count; slots *= 2) {
    if (memory_size(slots) == size) return slots;
  }
  return 0;
}

/// What every version of a ring begins with.
struct Beginning {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
};
static_assert(offsetof(Header, magic) == offsetof(Beginning, magic) &&
              offsetof(Header, version) == offsetof(Beginning, version));

}  // namespace

Result<Mapping> Mapping::of(int memory) {
  struct stat status {};
  const int seals = fcntl(memory, F_GET_SEALS);
  // It must not shrink while we read it.
  const bool is_safe = fstat(memory, &status) == 0 && seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
  Beginning beginning;
  if (!is_safe || pread(memory, &beginning, sizeof beginning, 0) != sizeof beginning ||
      beginning.magic != magic) {
    return error("not a ring of Takt's");
  }
  constexpr const char* other_version = "a ring of another version of Takt";
  const std::uint64_t slots = slots_in(static_cast<std::uint64_t>(status.st_size));
  if (beginning.version != version || slots == 0) {  // whose size may be another, too
    return error(other_version);
  }
  void* mapped = mmap(nullptr, memory_size(slots), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) {
    return error("a ring cannot be mapped: {}", std::strerror(errno));
  }
  Mapping mapping(static_cast<Header*>(mapped), slots);
  const Header* ring = mapping.ring_;
  mapping.gid_size_ = __atomic_load_n(&ring->gid_size, __ATOMIC_RELAXED);
  if (ring->fingerprint != tracepoints::fingerprint() ||
      (mapping.gid_size_ != 16 && mapping.gid_size_ != 24)) {
    return error(other_version);
  }
  return mapping;
}

Mapping::~Mapping() {
  if (ring_ != nullptr) {
    munmap(ring_, memory_size(slot_count_));
  }
}

Descriptor lock_ring(int memory) {
  // A descriptor that came from the traced process shares its locks with that process.
  Descriptor own(open(fmt::format("/proc/self/fd/{}", memory).c_str(), O_RDWR | O_CLOEXEC));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  return own && fcntl(own.get(), F_OFD_SETLK, &whole) == 0 ? std::move(own) : Descriptor();
}

bool Past::has(std::uint64_t time) {
  if (time > latest_) {
    latest_ = now();
  }
  return time <= latest_;
}

bool well_formed(std::uint8_t event, std::size_t gid_size, std::span<const std::byte> payload) {
  if (event >= tracepoints::of_programs.size()) {
    return false;
  }
  const auto& tracepoint = tracepoints::of_programs[event];
  const auto skip = [&payload](std::uint64_t size) {
    if (size > payload.size()) {
      return false;
    }
    payload = payload.subspan(size);
    return true;
  };
  for (std::size_t i = 0; i < tracepoint.field_count; ++i) {
    bool fits = true;
    switch (tracepoint.fields[i].kind) {
      case Kind::pointer:
      case Kind::signed64:
      case Kind::unsigned64:
        fits = skip(8);
        break;
      case Kind::flag:
        fits = skip(4);
        break;
      case Kind::gid:
        fits = skip(gid_size);
        break;
      case Kind::string: {
        const auto end = std::ranges::find(payload, std::byte{0});
        fits = skip(static_cast<std::size_t>(end - payload.begin()) + 1);
        break;
      }
      case Kind::pointers: {
        std::uint64_t count = 0;
        if (payload.size() >= sizeof count) {
          std::memcpy(&count, payload.data(), sizeof count);
        }
        fits = skip(sizeof count) && count <= payload.size() / 8 && skip(count * 8);
        break;
      }
      case Kind::signed32:
      case Kind::thread_name:
        fits = false;  // the kernel's alone
        break;
    }
    if (!fits) {
      return false;
    }
  }
  return payload.empty();
}

}  // namespace takt::capture::ring
