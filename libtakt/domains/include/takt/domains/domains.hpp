#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "takt/domains/device.hpp"
#include "takt/domains/drivers.hpp"
#include "takt/domains/pool.hpp"

namespace takt::domains {

/// 0 is the host, the others are in the order in which they came.
using Domain = std::uint32_t;
inline constexpr Domain host_domain = 0;
inline constexpr std::size_t most_domains = 32;

/// A pool. The index of one that is gone is used again, with another generation.
struct PoolId {
  std::uint32_t index = 0;
  std::uint32_t generation = 0;

  friend bool operator==(const PoolId&, const PoolId&) = default;
};

/// A block of a pool: what a message is, wherever its memory is.
struct BlockId {
  PoolId pool;
  Offset offset = 0;

  friend bool operator==(const BlockId&, const BlockId&) = default;
};

/// How blocks of one pool get to another one, with all memory that this needs.
struct Way {
  enum class Kind : std::uint8_t { same_domain, from_host, to_host, direct, over_host };

  Kind kind;
  PoolId from;
  PoolId to;
  std::vector<std::byte> buffer = {};  // on the host, if it goes over it
  DirectCopy direct = {};
  std::uint64_t copies = 0;
  std::uint64_t bytes = 0;
};

/// The memory domains of a process and their pools (component-cps, section 2.1.1). What a user can
/// get wrong is an error when things are set up, as far as that is possible. Not for several
/// threads at a time.
class Domains {
 public:
  /// The domain of a device. Error: there are 32 others.
  [[nodiscard]] Result<Domain> add(const Device& device);
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }

  /// Error: of the device, as above.
  [[nodiscard]] Result<PoolId> add_pool(std::unique_ptr<DeviceMemory> memory,
                                        const Pool::Settings& settings = {});
  /// Error: it is not there any more, or has blocks in use.
  [[nodiscard]] Result<void> remove_pool(PoolId id);
  /// Error: it is not there any more. Valid until it is removed.
  [[nodiscard]] Result<Pool*> pool(PoolId id);

  /// A copy that needs no host, for ways that are made afterwards.
  void add_direct_copy(const Device& from, const Device& to, DirectCopy copy);
  /// A way for blocks of up to `most` bytes. Error: a pool is not there any more, or there is
  /// neither a direct copy nor a way over the host.
  [[nodiscard]] Result<Way> connect(PoolId from, PoolId to, Bytes most);

  /// A block for `bytes`, with one use.
  [[nodiscard]] Result<BlockId> allocate(PoolId pool, Bytes bytes);
  [[nodiscard]] Result<void> share(const BlockId& block);
  [[nodiscard]] Result<void> release(const BlockId& block);
  /// The content of a block in the memory that the way leads to: the block itself, used once more,
  /// if that is in the same domain, and a copy with one use otherwise. Error: the block is not in
  /// use, is of another pool, is larger than the way, or the driver's reason.
  [[nodiscard]] Result<BlockId> bring(Way& way, const BlockId& block);

 private:
  struct Slot {
    std::unique_ptr<Pool> pool;
    std::uint32_t generation = 0;
  };

  [[nodiscard]] Result<void> copy(Way& way, Offset source, Offset target, Bytes bytes);

  std::vector<Device> devices_{host};
  std::vector<Slot> slots_;
  std::vector<Direct> direct_;
};

}  // namespace takt::domains
