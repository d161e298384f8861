#include "takt/scheduling/table_driven.hpp"

#include <algorithm>
#include <cassert>

#include "factories.hpp"

namespace takt::scheduling {

TableDrivenPolicy::TableDrivenPolicy(std::size_t callbacks, std::span<const Slot> slots,
                                     Duration cycle)
    : slots_(slots.begin(), slots.end()), cycle_(cycle), released_(callbacks) {
  assert(!slots_.empty() && "a table has a slot");
  Duration previous_end{};
  for (const Slot& slot : slots_) {
    assert(slot.start >= previous_end && slot.end > slot.start && slot.end <= cycle);
    previous_end = slot.end;
  }
  advance(round_);
}

void TableDrivenPolicy::release(LocalIndex callback, Instant /*activation*/, Instant /*origin*/) {
  ++released_[callback.value()];
}

void TableDrivenPolicy::advance(Instant now) {
  round_ += (now - round_) / cycle_ * cycle_;
  offset_ = now - round_;
  const auto later = std::ranges::upper_bound(slots_, offset_, {}, &Slot::start);
  begun_ = static_cast<std::size_t>(later - slots_.begin());
}

bool TableDrivenPolicy::choose(LocalIndex& chosen) {
  if (begun_ == 0) return false;
  const Slot& slot = slots_[begun_ - 1];
  std::size_t& released = released_[slot.callback.value()];
  if (offset_ >= slot.end || released == 0) return false;
  --released;
  chosen = slot.callback;
  return true;
}

std::optional<Instant> TableDrivenPolicy::next_start() const {
  return begun_ < slots_.size() ? round_ + slots_[begun_].start
                                : round_ + cycle_ + slots_.front().start;
}

std::unique_ptr<Policy> make_table(const PolicyDescription& description, std::size_t /*capacity*/) {
  return std::make_unique<TableDrivenPolicy>(description.callbacks.size(), description.slots,
                                             description.cycle);
}

}  // namespace takt::scheduling
