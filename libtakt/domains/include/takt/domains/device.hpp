#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "takt/allocation/allocator.hpp"
#include "takt/base/error.hpp"

namespace takt::domains {

using allocation::Bytes;
using allocation::Offset;

enum class DeviceKind : std::uint8_t { host, cuda, fpga, emulated };

/// Memory that the same processors read and write (component-cps, section 2.1). The host is one.
struct Device {
  DeviceKind kind = DeviceKind::host;
  std::uint32_t number = 0;

  /// A message needs no copy if and only if these are equal.
  friend bool operator==(const Device&, const Device&) = default;
};

inline constexpr Device host{};

/// "cuda 1"; the host has no number.
[[nodiscard]] std::string to_string(const Device& device);

/// The number by which two processes mean the same device; that of the host is
/// memory::host_domain. Error: the device's own number has more than 24 bits.
[[nodiscard]] Result<std::uint32_t> domain_number(const Device& device);
/// None: there is no such device.
[[nodiscard]] std::optional<Device> device_of(std::uint32_t domain_number);

/// The driver of a piece of a device's memory: what a pool stands on. Offsets begin with 0. One
/// thread provides; others may copy what is provided meanwhile, from bytes that nobody writes.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  virtual ~DeviceMemory() = default;

  [[nodiscard]] virtual Device device() const = 0;
  /// Whether copies to and from the host are possible at all.
  [[nodiscard]] virtual bool reaches_host() const = 0;
  /// A piece of memory is a multiple of this; a power of two.
  [[nodiscard]] virtual Bytes granule() const = 0;

  /// For other processes, which may read all of it. Below 0: there is none.
  [[nodiscard]] virtual int descriptor() const { return -1; }
  /// The bytes that are provided, where the host may access them. Empty for a device's memory.
  [[nodiscard]] virtual std::span<std::byte> on_host() const { return {}; }

  /// Makes the memory that large; it never becomes smaller. Error: the driver's reason.
  [[nodiscard]] virtual Result<void> provide(Bytes bytes) = 0;
  /// From the host. The bytes there are within what is provided. Error: the driver's reason.
  [[nodiscard]] virtual Result<void> copy_to(Offset to, std::span<const std::byte> from) = 0;
  /// To the host.
  [[nodiscard]] virtual Result<void> copy_from(Offset from, std::span<std::byte> to) = 0;
};

}  // namespace takt::domains
