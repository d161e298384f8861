#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/domains/device.hpp"
#include "takt/domains/drivers.hpp"

namespace takt::domains {

/// How long a copy to or from a device takes: a latency, and its bytes by the bandwidth.
struct CopyCost {
  std::chrono::nanoseconds latency{10'000};
  std::int64_t bytes_per_second = 12'000'000'000;

  [[nodiscard]] std::chrono::nanoseconds of(Bytes bytes) const;
};

/// A device in memory of the host that nobody maps: it is reached by copies alone, which take as
/// long as those of a device. For machines without one, and for tests.
class EmulatedDevice final : public DeviceMemory {
 public:
  using Wait = std::function<void(std::chrono::nanoseconds)>;

  struct Settings {
    std::uint32_t number = 0;
    bool reaches_host = true;
    CopyCost cost = {};
    /// Lets that time pass. Empty: sleeps.
    Wait wait = {};
  };

  /// Memory of its own. Error: the kernel's reason.
  static Result<std::unique_ptr<EmulatedDevice>> make(Settings settings);
  /// The memory of another process's, by its descriptor. Error: the kernel's reason.
  static Result<std::unique_ptr<EmulatedDevice>> attach(Settings settings, Descriptor memory);

  [[nodiscard]] Device device() const override {
    return {.kind = DeviceKind::emulated, .number = settings_.number};
  }
  [[nodiscard]] bool reaches_host() const override { return settings_.reaches_host; }
  /// As of a GPU.
  [[nodiscard]] Bytes granule() const override { return Bytes{2} << 20; }
  [[nodiscard]] Result<void> provide(Bytes bytes) override;
  [[nodiscard]] Result<void> copy_to(Offset to, std::span<const std::byte> from) override;
  [[nodiscard]] Result<void> copy_from(Offset from, std::span<std::byte> to) override;

  [[nodiscard]] int descriptor() const override { return for_others_.get(); }

 private:
  EmulatedDevice(Settings settings, Descriptor memory, Descriptor for_others, Bytes provided);

  void wait_for(std::size_t bytes) const { settings_.wait(settings_.cost.of(bytes)); }

  Settings settings_;
  Descriptor memory_;
  Descriptor for_others_;  // the same, only to be read
  Bytes provided_;
};

/// Makes and attaches emulated devices of any number that all reach the host.
[[nodiscard]] Drivers emulated_drivers(const CopyCost& cost = {}, EmulatedDevice::Wait wait = {});

}  // namespace takt::domains
