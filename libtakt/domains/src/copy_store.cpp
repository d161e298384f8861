#include "takt/domains/copy_store.hpp"

#include <algorithm>

#include "takt/memory/layout.hpp"

namespace takt::domains {

bool CopyStore::fill(Slot slot, std::size_t bytes) {
  records_[slot].copy = copies_->take(std::max<std::size_t>(bytes, 1));
  return is_here(slot);
}

void CopyStore::clear(Slot slot) {
  if (const auto copy = std::exchange(records_[slot].copy, std::nullopt)) copies_->give_back(*copy);
}

std::optional<CopyStore::Slot> CopyStore::take(std::size_t /*bytes*/) {
  if (free_.empty()) {
    free_.push_back(static_cast<Slot>(records_.size()));
    records_.emplace_back();
  }
  const Slot slot = free_.back();
  free_.pop_back();
  records_[slot].uses = 1;
  return slot;
}

void CopyStore::give_back(Slot slot) {
  if (--records_[slot].uses > 0) return;
  clear(slot);
  free_.push_back(slot);
}

CopyStore::Place CopyStore::place(Slot slot) const {
  const auto& copy = records_[slot].copy;
  return copy ? copies_->place(*copy) : Place{.block = memory::nowhere};
}

}  // namespace takt::domains
