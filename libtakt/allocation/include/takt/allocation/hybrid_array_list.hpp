#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <list>
#include <optional>
#include <span>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// Blocks by their offsets in a list of short arrays (component-cps, appendix A). With n blocks and
/// m to a chunk, searching takes O(n/m + log m), inserting and removing O(m) where the place is
/// known. A chunk and its links take a page. There is always a chunk, though it may be empty.
template <std::size_t most = 254>
class HybridArrayList {
  struct Chunk {
    std::size_t count = 0;
    std::array<Block, most> blocks;

    [[nodiscard]] auto end() { return blocks.begin() + static_cast<std::ptrdiff_t>(count); }
    [[nodiscard]] std::span<const Block> used() const { return std::span(blocks).first(count); }
  };
  using Chunks = std::list<Chunk>;

 public:
  struct Position {
    Chunks::iterator chunk;
    std::size_t index = 0;

    friend bool operator==(const Position&, const Position&) = default;
  };

  [[nodiscard]] Position begin() {
    return chunks_.front().count == 0 ? end() : Position{chunks_.begin()};
  }
  [[nodiscard]] Position end() { return {chunks_.end()}; }
  [[nodiscard]] Position next(Position position) {
    if (++position.index < position.chunk->count) return position;
    return {std::next(position.chunk)};
  }
  [[nodiscard]] Position previous(Position position) {
    if (position.index > 0) return {position.chunk, position.index - 1};
    const auto chunk = std::prev(position.chunk);
    return {chunk, chunk->count - 1};
  }
  [[nodiscard]] Block& at(Position position) { return position.chunk->blocks[position.index]; }

  /// The block with the largest offset up to this one; end() if there is none.
  [[nodiscard]] Position search(Offset offset) {
    const auto chunk = chunk_of(offset);
    return chunk == chunks_.end() ? end() : Position{chunk, after(*chunk, offset) - 1};
  }

  void insert(const Block& block) {
    auto chunk = chunk_of(block.offset);
    if (chunk == chunks_.end()) chunk = chunks_.begin();
    std::size_t index = after(*chunk, block.offset);
    if (chunk->count == most) {
      split(chunk);
      if (index > chunk->count) {
        index -= chunk->count;
        ++chunk;
      }
    }
    const auto place = chunk->blocks.begin() + static_cast<std::ptrdiff_t>(index);
    std::move_backward(place, chunk->end(), chunk->end() + 1);
    *place = block;
    ++chunk->count;
  }

  void remove(Position position) {
    const auto [chunk, index] = position;
    const auto place = chunk->blocks.begin() + static_cast<std::ptrdiff_t>(index);
    std::move(place + 1, chunk->end(), place);
    --chunk->count;
    const auto follower = std::next(chunk);
    if (follower != chunks_.end()) unite(chunk, follower);
    if (chunk != chunks_.begin()) unite(std::prev(chunk), chunk);
  }

  [[nodiscard]] std::optional<Block> last() const {
    const Chunk& chunk = chunks_.back();
    return chunk.count == 0 ? std::nullopt : std::optional(chunk.used().back());
  }
  [[nodiscard]] std::vector<Block> blocks() const {
    std::vector<Block> all;
    for (const Chunk& chunk : chunks_) {
      all.insert(all.end(), chunk.used().begin(), chunk.used().end());
    }
    return all;
  }
  [[nodiscard]] std::size_t chunks() const { return chunks_.size(); }
  [[nodiscard]] Bytes own_bytes() const {
    return chunks_.size() * (sizeof(Chunk) + 2 * sizeof(void*));
  }

 private:
  /// The chunk that has the largest offset up to this one. Most requests are for what is new.
  [[nodiscard]] Chunks::iterator chunk_of(Offset offset) {
    for (auto chunk = chunks_.end(); chunk != chunks_.begin();) {
      --chunk;
      if (chunk->count > 0 && chunk->blocks[0].offset <= offset) return chunk;
    }
    return chunks_.end();
  }

  /// The number of blocks of a chunk with an offset up to this one.
  [[nodiscard]] static std::size_t after(const Chunk& chunk, Offset offset) {
    const auto used = chunk.used();
    return static_cast<std::size_t>(std::ranges::upper_bound(used, offset, {}, &Block::offset) -
                                    used.begin());
  }

  /// Moves half of a chunk into one behind it.
  void split(Chunks::iterator chunk) {
    const auto upper = chunks_.emplace(std::next(chunk));
    const auto moved = chunk->used().subspan(most / 2);
    std::ranges::copy(moved, upper->blocks.begin());
    upper->count = moved.size();
    chunk->count = most / 2;
  }

  /// Makes one chunk of two neighbours that fill half of it, or of which one is empty.
  void unite(Chunks::iterator lower, Chunks::iterator upper) {
    if (lower->count + upper->count > most / 2 && lower->count > 0 && upper->count > 0) return;
    std::ranges::copy(upper->used(), lower->end());
    lower->count += upper->count;
    chunks_.erase(upper);
  }

  Chunks chunks_{1};
};

}  // namespace takt::allocation
