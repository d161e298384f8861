#include "takt/domains/pool.hpp"

#include <fmt/format.h>

#include <utility>

#include "takt/base/try.hpp"
#include "takt/memory/socket.hpp"

namespace takt::domains {

namespace {

constexpr std::uint32_t number_bits = 24;

tl::unexpected<Error> not_in_use(const Pool& pool, Offset offset) {
  return error("offset {} of {}: no block in use begins there; was it released already?", offset,
               to_string(pool.device()));
}

}  // namespace

std::string to_string(const Device& device) {
  switch (device.kind) {
    case DeviceKind::host:
      return "the host";
    case DeviceKind::cuda:
      return fmt::format("cuda {}", device.number);
    case DeviceKind::fpga:
      return fmt::format("fpga {}", device.number);
    case DeviceKind::emulated:
      return fmt::format("emulated device {}", device.number);
  }
  return fmt::format("device {}", device.number);
}

Result<std::uint32_t> domain_number(const Device& device) {
  if (device.kind == DeviceKind::host) return memory::host_domain;
  if (device.number >> number_bits != 0) {
    return error("{}: its number has more than {} bits", to_string(device), number_bits);
  }
  return static_cast<std::uint32_t>(device.kind) << number_bits | device.number;
}

std::optional<Device> device_of(std::uint32_t domain_number) {
  const std::uint32_t kind = domain_number >> number_bits;
  if (domain_number == memory::host_domain) return host;
  if (kind == 0 || kind > static_cast<std::uint32_t>(DeviceKind::emulated)) return std::nullopt;
  return Device{.kind = static_cast<DeviceKind>(kind),
                .number = domain_number & ((1U << number_bits) - 1)};
}

Pool::Pool(std::unique_ptr<DeviceMemory> memory, const Settings& settings)
    : memory_(std::move(memory)),
      growth_{.step = allocation::round_up(settings.step, memory_->granule()),
              .limit = settings.limit},
      allocator_(allocation::tlsf, 0, granule) {}

Result<Offset> Pool::allocate(Bytes bytes) {
  if (bytes == 0) return error("0 bytes of {}: a block has at least one", to_string(device()));
  const auto offset = allocation::allocate_or_grow(allocator_, bytes, growth_);
  if (!offset) {
    return error("{} bytes of {}: {} of {} bytes are in use; raise the pool's limit", bytes,
                 to_string(device()), allocator_.range(), growth_.limit);
  }
  if (auto provided = provide_up_to(*offset + bytes); !provided) {
    static_cast<void>(allocator_.release(*offset));
    return tl::unexpected(std::move(provided.error()));
  }
  blocks_[*offset] = {.bytes = bytes, .uses = 1};
  return *offset;
}

/// The range may be ahead of the memory, if the driver had none at the time.
Result<void> Pool::provide_up_to(Bytes end) {
  if (end <= provided_) return {};
  TAKT_TRY(memory_->provide(allocator_.range()));
  provided_ = allocator_.range();
  return {};
}

Result<void> Pool::share(Offset offset) {
  const auto found = blocks_.find(offset);
  if (found == blocks_.end()) return not_in_use(*this, offset);
  ++found->second.uses;
  return {};
}

Result<void> Pool::release(Offset offset) {
  const auto found = blocks_.find(offset);
  if (found == blocks_.end()) return not_in_use(*this, offset);
  if (--found->second.uses > 0) return {};
  blocks_.erase(found);
  static_cast<void>(allocator_.release(offset));
  return {};
}

Result<Bytes> Pool::size(Offset offset) const {
  const auto found = blocks_.find(offset);
  if (found == blocks_.end()) return not_in_use(*this, offset);
  return found->second.bytes;
}

}  // namespace takt::domains
