#include "takt/domains/drivers.hpp"

#include <algorithm>

namespace takt::domains {

const DirectCopy* find_direct(std::span<const Direct> all, const Device& from, const Device& to) {
  const auto found = std::ranges::find_if(
      all, [&](const Direct& each) { return each.from == from && each.to == to; });
  return found == all.end() ? nullptr : &found->copy;
}

Result<void> check_way(const Reach& from, const Reach& to, std::span<const Direct> direct) {
  if (find_direct(direct, from.device, to.device) != nullptr) return {};
  for (const Reach& each : {from, to}) {
    if (!each.reaches_host) {
      return error("{} to {}: {} cannot be reached from the host, and no direct copy is known",
                   to_string(from.device), to_string(to.device), to_string(each.device));
    }
  }
  return {};
}

Result<void> copy_between(const Source& from, const Target& to, Bytes bytes,
                          const DirectCopy* direct, std::vector<std::byte>& buffer) {
  if (from.device == nullptr) return to.device->copy_to(to.offset, from.bytes.first(bytes));
  if (to.device == nullptr) return from.device->copy_from(from.offset, to.bytes.first(bytes));
  if (direct != nullptr) return (*direct)(*from.device, from.offset, *to.device, to.offset, bytes);
  if (buffer.size() < bytes) buffer.resize(bytes);
  const auto part = std::span(buffer).first(bytes);
  return from.device->copy_from(from.offset, part).and_then([&] {
    return to.device->copy_to(to.offset, part);
  });
}

}  // namespace takt::domains
