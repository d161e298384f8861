#pragma once

#include <optional>
#include <vector>

#include "takt/allocation/allocator.hpp"
#include "takt/allocation/block_table.hpp"

namespace takt::allocation {

/// Simple segregated storage (component-cps, section 2.2.1): sizes are powers of two, a block is
/// never cut and never united with another, and what is free serves its own size alone. New blocks
/// are taken behind all others. Constant time, as far as BlockTable takes constant time.
class SegregatedStorage final : public Allocator {
 public:
  SegregatedStorage(Bytes range, Bytes granule);

  [[nodiscard]] std::optional<Offset> allocate(Bytes bytes) override;
  [[nodiscard]] bool release(Offset offset) override;
  [[nodiscard]] bool grow_for(Bytes bytes, const Growth& growth) override;
  [[nodiscard]] Bytes range() const override { return range_; }
  [[nodiscard]] std::vector<Block> free_blocks() const override;
  [[nodiscard]] Bytes own_bytes() const override { return table_.own_bytes(); }

 private:
  [[nodiscard]] Bytes size_of(Bytes bytes) const;

  Bytes range_;
  Bytes granule_;
  Offset fresh_ = 0;  // nothing from here on was ever given out
  BlockTable table_;
};

}  // namespace takt::allocation
