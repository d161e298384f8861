#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "takt/allocation/segregated_fit.hpp"
#include "takt/domains/device.hpp"

namespace takt::domains {

/// Blocks of a device's memory with the number of their uses, which are in this process alone. The
/// memory grows by steps before a block of it is used, up to a limit. Constant time but for that
/// (libtakt/allocation: TLSF). Not for several threads at a time.
class Pool {
 public:
  /// Blocks begin at multiples of it.
  static constexpr Bytes granule = 4096;

  struct Settings {
    /// Rounded up to whole granules of the memory.
    Bytes step = Bytes{2} << 20;
    Bytes limit = Bytes{1} << 30;
  };

  Pool(std::unique_ptr<DeviceMemory> memory, const Settings& settings);

  /// A block with one use. Error: 0 bytes, more than the limit allows, or the driver's reason.
  [[nodiscard]] Result<Offset> allocate(Bytes bytes);
  /// One use more. Error: nothing in use begins there.
  [[nodiscard]] Result<void> share(Offset offset);
  /// One use less; without one, the block is free. Error: nothing in use begins there.
  [[nodiscard]] Result<void> release(Offset offset);
  /// The bytes that the block was allocated for. Error: nothing in use begins there.
  [[nodiscard]] Result<Bytes> size(Offset offset) const;

  [[nodiscard]] DeviceMemory& memory() const { return *memory_; }
  [[nodiscard]] Device device() const { return memory_->device(); }
  [[nodiscard]] std::size_t in_use() const { return blocks_.size(); }
  /// What the device has made memory for.
  [[nodiscard]] Bytes provided() const { return provided_; }

 private:
  struct Use {
    Bytes bytes;
    std::uint64_t uses;
  };

  [[nodiscard]] Result<void> provide_up_to(Bytes end);

  std::unique_ptr<DeviceMemory> memory_;
  allocation::Growth growth_;
  allocation::SegregatedFit allocator_;
  Bytes provided_ = 0;
  std::unordered_map<Offset, Use> blocks_;
};

}  // namespace takt::domains
