#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "takt/base/descriptor.hpp"
#include "takt/domains/device.hpp"

namespace takt::domains {

/// Copies from one device to another without the host. Error: the driver's reason.
using DirectCopy = std::function<Result<void>(DeviceMemory& from, Offset source, DeviceMemory& to,
                                              Offset target, Bytes bytes)>;

struct Direct {
  Device from;
  Device to;
  DirectCopy copy;
};

/// Which devices a process has, and how.
struct Drivers {
  using Made = Result<std::unique_ptr<DeviceMemory>>;

  /// Memory of its own. Empty: there are no devices.
  std::function<Made(const Device&)> make = {};
  /// The memory of another process's, by its descriptor.
  std::function<Made(const Device&, Descriptor)> attach = {};
  std::vector<Direct> direct = {};
};

/// Null: there is no direct copy from one to the other.
[[nodiscard]] const DirectCopy* find_direct(std::span<const Direct> all, const Device& from,
                                            const Device& to);

struct Reach {
  Device device = host;
  bool reaches_host = true;
};

/// Error: nothing can be copied from one to the other, as that has to go over the host.
[[nodiscard]] Result<void> check_way(const Reach& from, const Reach& to,
                                     std::span<const Direct> direct);

/// Where a copy is from: bytes of the host, or a place in a device's memory.
struct Source {
  std::span<const std::byte> bytes = {};
  DeviceMemory* device = nullptr;
  Offset offset = 0;
};

/// Where a copy goes to.
struct Target {
  std::span<std::byte> bytes = {};
  DeviceMemory* device = nullptr;
  Offset offset = 0;
};

/// Copies between two domains. Where neither is the host: by `direct`, if there is one, or else
/// over `buffer`, which becomes as large as needed. Error: the driver's reason.
[[nodiscard]] Result<void> copy_between(const Source& from, const Target& to, Bytes bytes,
                                        const DirectCopy* direct, std::vector<std::byte>& buffer);

}  // namespace takt::domains
