#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "takt/memory/store.hpp"

namespace takt::domains {

/// Messages of another domain. Each begins without a copy in this one, and is `nowhere`.
class CopyStore final : public memory::Store {
 public:
  explicit CopyStore(std::unique_ptr<memory::Store> copies) : copies_(std::move(copies)) {}

  /// Makes room for the copy of a message. False: there is no memory left.
  [[nodiscard]] bool fill(Slot slot, std::size_t bytes);
  /// Takes that room away again, as nothing could be copied.
  void clear(Slot slot);
  [[nodiscard]] bool is_here(Slot slot) const { return records_[slot].copy.has_value(); }
  [[nodiscard]] bool is_used(Slot slot) const { return records_[slot].uses > 0; }

  /// A message without a copy, of any size.
  [[nodiscard]] std::optional<Slot> take(std::size_t bytes) override;
  void use_again(Slot slot) override { ++records_[slot].uses; }
  void give_back(Slot slot) override;
  [[nodiscard]] Place place(Slot slot) const override;
  [[nodiscard]] std::size_t blocks() const override { return copies_->blocks(); }
  [[nodiscard]] int descriptor(std::size_t block) const override {
    return copies_->descriptor(block);
  }
  [[nodiscard]] std::size_t bytes() const override { return copies_->bytes(); }
  /// Copies that are there.
  [[nodiscard]] std::size_t slots_in_use() const override { return copies_->slots_in_use(); }

 private:
  struct Record {
    std::size_t uses = 0;
    std::optional<Slot> copy = std::nullopt;
  };

  std::unique_ptr<memory::Store> copies_;
  std::vector<Record> records_;
  std::vector<Slot> free_;
};

}  // namespace takt::domains
