#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// A heap of callbacks by key, the smallest first, each callback in it once at most. A callback
/// that is held is kept with its key but not found. All changes O(log n); nothing is allocated
/// after construction.
template <typename Key>
class HoldableHeap {
 public:
  explicit HoldableHeap(std::size_t callbacks) : entries_(callbacks) { heap_.reserve(callbacks); }

  [[nodiscard]] bool contains(LocalIndex callback) const { return entry(callback).contained; }

  /// Adds a callback, or changes its key.
  void insert(LocalIndex callback, Key key) {
    Entry& added = entry(callback);
    added.key = std::move(key);
    const bool was_contained = std::exchange(added.contained, true);
    if (added.held) return;
    if (was_contained) {
      move(added.place);
    } else {
      add(callback);
    }
  }

  /// Removes a callback, if it is contained.
  void remove(LocalIndex callback) {
    Entry& removed = entry(callback);
    if (!removed.contained) return;
    removed.contained = false;
    if (!removed.held) take_out(removed.place);
  }

  /// Whether all callbacks in it are held.
  [[nodiscard]] bool empty() const { return heap_.empty(); }

  /// The smallest callback that is not held. The heap must not be empty().
  [[nodiscard]] LocalIndex top() const { return heap_.front(); }

  [[nodiscard]] const Key& key(LocalIndex callback) const { return entry(callback).key; }

  [[nodiscard]] bool is_held(LocalIndex callback) const { return entry(callback).held; }

  void hold(LocalIndex callback) {
    Entry& held = entry(callback);
    assert(!held.held);
    if (held.contained) take_out(held.place);
    held.held = true;
  }

  void resume(LocalIndex callback) {
    Entry& resumed = entry(callback);
    assert(resumed.held);
    resumed.held = false;
    if (resumed.contained) add(callback);
  }

 private:
  struct Entry {
    Key key{};
    std::size_t place = 0;
    bool contained = false;
    bool held = false;
  };

  Entry& entry(LocalIndex callback) { return entries_[callback.value()]; }
  const Entry& entry(LocalIndex callback) const { return entries_[callback.value()]; }

  [[nodiscard]] bool precedes(LocalIndex a, LocalIndex b) const {
    return entry(a).key < entry(b).key;
  }

  void put(std::size_t place, LocalIndex callback) {
    heap_[place] = callback;
    entry(callback).place = place;
  }

  void add(LocalIndex callback) {
    heap_.push_back(callback);
    rise(heap_.size() - 1);
  }

  void take_out(std::size_t place) {
    const LocalIndex last = heap_.back();
    heap_.pop_back();
    if (place == heap_.size()) return;
    put(place, last);
    move(place);
  }

  /// Brings a callback to the place of its key.
  void move(std::size_t place) {
    if (place > 0 && precedes(heap_[place], heap_[(place - 1) / 2])) {
      rise(place);
    } else {
      sink(place);
    }
  }

  void rise(std::size_t place) {
    const LocalIndex moving = heap_[place];
    for (; place > 0; place = (place - 1) / 2) {
      const LocalIndex parent = heap_[(place - 1) / 2];
      if (!precedes(moving, parent)) break;
      put(place, parent);
    }
    put(place, moving);
  }

  void sink(std::size_t place) {
    const LocalIndex moving = heap_[place];
    for (std::size_t child = 2 * place + 1; child < heap_.size(); child = 2 * place + 1) {
      if (child + 1 < heap_.size() && precedes(heap_[child + 1], heap_[child])) ++child;
      if (!precedes(heap_[child], moving)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, moving);
  }

  std::vector<Entry> entries_;
  std::vector<LocalIndex> heap_;
};

}  // namespace takt::scheduling
