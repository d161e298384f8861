#include "takt/domains/address_layout.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <numeric>
#include <utility>

#include "takt/base/try.hpp"

namespace takt::domains {

namespace {

struct Part {
  const char* name;
  Bytes bytes;
  Bytes unit;
};

}  // namespace

Result<Bytes> AddressLayout::boundary_unit() const {
  const auto page = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
  for (const auto& [name, bytes, unit] :
       {Part{"a process's own part", own, page}, Part{"the shared part", shared, shared_unit},
        Part{"the device's part", device, device_unit},
        Part{"the unit of the shared part", shared_unit, page}}) {
    if (unit == 0 || bytes == 0 || bytes % unit != 0 || bytes > allocation::largest) {
      return error("{}: {} bytes; give a multiple of {}, up to {}", name, bytes, unit,
                   allocation::largest);
    }
  }
  const Bytes factor = device_unit / std::gcd(shared_unit, device_unit);
  if (factor > allocation::largest / shared_unit) {
    return error("units of {} and {} bytes: their common multiple is larger than any address space",
                 shared_unit, device_unit);
  }
  return shared_unit * factor;
}

Result<Bytes> AddressLayout::reserved() const {
  return boundary_unit().map([&](Bytes unit) { return own + shared + device + unit; });
}

Result<std::uintptr_t> AddressLayout::place(std::uintptr_t reservation) const {
  return boundary_unit().map(
      [&](Bytes unit) { return reservation + unit - (reservation + own + shared) % unit; });
}

AddressRange::AddressRange(const AddressLayout& layout, memory::Mapping mapping)
    : layout_(layout),
      mapping_(std::move(mapping)),
      begin_(reinterpret_cast<std::uintptr_t>(mapping_.pages().data())) {}

Result<AddressRange> AddressRange::make(const AddressLayout& layout) {
  const auto bytes = TAKT_TRY(layout.reserved());
  void* const reserved =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return error("{} bytes of addresses: {}", bytes, strerror(errno));
  const auto first = reinterpret_cast<std::uintptr_t>(reserved);
  const std::uintptr_t begin = *layout.place(first);
  const std::uintptr_t end = begin + layout.own + layout.shared + layout.device;
  const auto give_back = [](std::uintptr_t from, std::uintptr_t to) {
    if (from < to) munmap(reinterpret_cast<void*>(from), to - from);
  };
  give_back(first, begin);
  give_back(end, first + bytes);
  return AddressRange(layout,
                      memory::Mapping(std::span(reinterpret_cast<std::byte*>(begin), end - begin)));
}

}  // namespace takt::domains
