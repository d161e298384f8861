#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "takt/memory/layout.hpp"
#include "takt/memory/memory_file.hpp"
#include "takt/memory/store.hpp"

namespace takt::memory {

/// Messages in memory of the host, in slots of a few sizes. Slots of one size are in blocks, each
/// twice as large as all before it together.
class Pool final : public Store {
 public:
  /// Takes constant time if a slot is free, and makes a block if not. None: also if the pool has
  /// most_blocks.
  [[nodiscard]] std::optional<Slot> take(std::size_t bytes) override;
  void use_again(Slot slot) override { ++slots_[slot].uses; }
  void give_back(Slot slot) override;

  [[nodiscard]] Place place(Slot slot) const override;
  [[nodiscard]] std::size_t blocks() const override { return blocks_.size(); }
  [[nodiscard]] int descriptor(std::size_t block) const override {
    return blocks_[block].descriptor();
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] std::size_t slots_in_use() const override { return in_use_; }

 private:
  struct Record {
    std::uint32_t block;
    std::uint32_t uses;
    std::uint64_t offset;
    std::size_t size_class;
  };
  struct SizeClass {
    std::vector<Slot> free;
    std::size_t slots = 0;
  };

  [[nodiscard]] bool grow(std::size_t size_class);

  std::vector<OwnMemory> blocks_;
  std::vector<Record> slots_;
  std::array<SizeClass, 30> classes_;
  std::size_t bytes_ = 0;
  std::size_t in_use_ = 0;
};

}  // namespace takt::memory
