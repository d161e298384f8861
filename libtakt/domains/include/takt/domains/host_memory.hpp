#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "takt/domains/device.hpp"
#include "takt/memory/memory_file.hpp"

namespace takt::domains {

/// Memory of the host, up to a limit for which addresses are reserved: it grows without moving.
class HostMemory final : public DeviceMemory {
 public:
  /// Error: the kernel's reason.
  static Result<std::unique_ptr<HostMemory>> make(Bytes limit);

  [[nodiscard]] Device device() const override { return host; }
  [[nodiscard]] bool reaches_host() const override { return true; }
  [[nodiscard]] Bytes granule() const override { return 4096; }
  [[nodiscard]] std::span<std::byte> on_host() const override {
    return mapping_.pages().first(provided_);
  }
  [[nodiscard]] Result<void> provide(Bytes bytes) override;
  [[nodiscard]] Result<void> copy_to(Offset to, std::span<const std::byte> from) override;
  [[nodiscard]] Result<void> copy_from(Offset from, std::span<std::byte> to) override;

 private:
  explicit HostMemory(memory::Mapping mapping) : mapping_(std::move(mapping)) {}

  memory::Mapping mapping_;
  Bytes provided_ = 0;
};

}  // namespace takt::domains
