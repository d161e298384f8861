#include "takt/capture/ring/mapping.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "takt/capture/ring/writer.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::ring {

using tracepoints::Kind;

Result<Mapping> Mapping::of(int memory) {
  struct stat status {};
  const int seals = fcntl(memory, F_GET_SEALS);
  if (fstat(memory, &status) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 ||
      status.st_size != static_cast<off_t>(memory_size)) {
    return error("not a ring of Takt's");  // or one that could shrink while we read it
  }
  void* mapped = mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (mapped == MAP_FAILED) {
    return error("a ring cannot be mapped: {}", std::strerror(errno));
  }
  Mapping mapping(static_cast<Header*>(mapped));
  const Header* ring = mapping.ring_;
  mapping.gid_size_ = __atomic_load_n(&ring->gid_size, __ATOMIC_RELAXED);
  if (ring->magic != magic || ring->version != version ||
      ring->fingerprint != tracepoints::fingerprint() ||
      (mapping.gid_size_ != 16 && mapping.gid_size_ != 24)) {
    return error("a ring of another version of Takt");
  }
  return mapping;
}

Mapping::~Mapping() {
  if (ring_ != nullptr) {
    munmap(ring_, memory_size);
  }
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
