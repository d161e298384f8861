#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "takt/events/threads.hpp"

namespace takt::execution {

/// Maps the handles of each process to values. The map is one array with open addressing, because
/// the interpreter looks up a handle for every other event. Entries are replaced but never removed,
/// because no event tells that an object is destroyed.
template <typename Value>
class HandleMap {
 public:
  /// The value, or null. Valid until the next insertion.
  [[nodiscard]] const Value* find(events::ProcessIndex process, std::uint64_t handle) const {
    if (slots_.empty()) {
      return nullptr;
    }
    const Slot& slot = slots_[position(process, handle)];
    return slot.used ? &slot.value : nullptr;
  }
  [[nodiscard]] Value* find(events::ProcessIndex process, std::uint64_t handle) {
    return const_cast<Value*>(std::as_const(*this).find(process, handle));
  }

  /// The value, made if new.
  Value& at(events::ProcessIndex process, std::uint64_t handle) {
    if (slots_.empty() || 2 * size_ >= slots_.size()) {
      grow();
    }
    Slot& slot = slots_[position(process, handle)];
    if (!slot.used) {
      slot = Slot{process, true, handle, Value()};
      ++size_;
    }
    return slot.value;
  }

  template <typename Function>
  void for_each(Function&& function) {
    for (Slot& slot : slots_) {
      if (slot.used) {
        function(slot.process, slot.handle, slot.value);
      }
    }
  }

 private:
  struct Slot {
    events::ProcessIndex process;
    bool used = false;
    std::uint64_t handle = 0;
    Value value{};
  };

  [[nodiscard]] std::size_t position(events::ProcessIndex process, std::uint64_t handle) const {
    std::uint64_t hash = (handle ^ (process.value() << 48)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    while (slots_[i].used && (slots_[i].handle != handle || slots_[i].process != process)) {
      i = (i + 1) & mask;
    }
    return i;
  }

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size());
    std::swap(old, slots_);
    for (Slot& slot : old) {
      if (slot.used) {
        slots_[position(slot.process, slot.handle)] = std::move(slot);
      }
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t size_ = 0;
};

}  // namespace takt::execution
