#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// What a rule makes of a request, computed slowly from words of the document: nothing here is
/// shared with the allocators.
inline Bytes block_size(std::string_view rule, Bytes bytes, Bytes granule) {
  Bytes size = (bytes + granule - 1) / granule * granule;
  if (rule == "binary buddies" || rule == "segregated storage") return std::bit_ceil(size);
  if (rule == "double buddies") {
    Bytes best = std::bit_ceil(size);
    for (Bytes three = 3 * granule; three < best; three *= 2) {
      if (three >= size) best = three;
    }
    return best;
  }
  if (rule == "Fibonacci buddies") {
    Bytes one = granule;
    Bytes two = 2 * granule;
    while (one < size) {
      const Bytes sum = one + two;
      one = two;
      two = sum;
    }
    return one;
  }
  return size;
}

/// A range as one flag for each granule.
class Units {
 public:
  Units(Bytes range, Bytes granule) : granule_(granule), used_(range / granule) {}

  void set(const Block& block, bool used) {
    for (Offset at = block.offset; at < block.end(); at += granule_) used_[at / granule_] = used;
  }
  [[nodiscard]] std::vector<Block> free_runs() const {
    std::vector<Block> runs;
    for (std::size_t unit = 0; unit < used_.size(); ++unit) {
      if (used_[unit]) continue;
      const Offset offset = unit * granule_;
      if (runs.empty() || runs.back().end() != offset) runs.push_back({offset, 0});
      runs.back().bytes += granule_;
    }
    return runs;
  }

 private:
  Bytes granule_;
  std::vector<bool> used_;
};

/// Where each sequential fit has to put a block; the cursor is where the latest block ended.
inline std::optional<Offset> choice(std::string_view rule, const std::vector<Block>& runs,
                                    Bytes bytes, Offset cursor) {
  std::optional<Block> found;
  for (const Block& run : runs) {
    if (run.bytes < bytes) continue;
    const auto is_better = [&](const Block& than) {
      if (rule.starts_with("best fit")) return run.bytes < than.bytes;
      if (rule == "next fit") return run.end() > cursor && than.end() <= cursor;
      return false;
    };
    if (!found || is_better(*found)) found = run;
  }
  return found ? std::optional(found->offset) : std::nullopt;
}

}  // namespace takt::allocation
