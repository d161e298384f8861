#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// Small objects (component-cps, section 2.2.4, the hybrid allocator): a slab of 4 KiB has objects
/// of one size, a power of two from 64 bytes on, with a bit for each. Slabs, and what is larger
/// than half of one, come from another allocator, whose granule is 4 KiB. Adds constant time to its
/// time.
class ObjectPools final : public Allocator {
 public:
  static constexpr Bytes slab_bytes = 4096;
  static constexpr Bytes smallest = 64;

  explicit ObjectPools(std::unique_ptr<Allocator> large) : large_(std::move(large)) {}

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return large_->range(); }
  [[nodiscard]] std::vector<Block> free_blocks() const override;
  [[nodiscard]] Bytes own_bytes() const override;

 private:
  static constexpr std::size_t size_count = 6;  // 64 to 2048 bytes

  struct Slab {
    std::size_t size_index;
    std::uint64_t free;  // a bit for each object
    std::size_t place;   // in the list of slabs with room, if it has room
  };
  using Slabs = std::unordered_map<Offset, Slab>;

  [[nodiscard]] static Bytes size(std::size_t index) { return smallest << index; }
  [[nodiscard]] static std::uint64_t all(std::size_t index) {
    return ~std::uint64_t{0} >> (64 - slab_bytes / size(index));
  }
  [[nodiscard]] bool add_slab(std::size_t size_index);
  void list(Offset offset, Slab& slab);
  void unlist(const Slab& slab);

  std::unique_ptr<Allocator> large_;
  Slabs slabs_;
  std::array<std::vector<Offset>, size_count> with_room_;
};

}  // namespace takt::allocation
