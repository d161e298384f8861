#pragma once

#include <cstddef>
#include <optional>
#include <utility>

#include "takt/scheduling/holdable_heap.hpp"
#include "takt/scheduling/waiting_lists.hpp"

namespace takt::scheduling {

/// The queue of an events executor. The oldest released instance of each callback competes with
/// those of the others by its key. Keys of one callback must not decrease from one instance to the
/// next, or an urgent one waits for an older one: instances of a callback never overtake each
/// other.
template <typename Key>
class ReadyQueue {
 public:
  /// `capacity`: how many instances may wait at once before memory is allocated.
  ReadyQueue(std::size_t callbacks, std::size_t capacity)
      : waiting_(callbacks, capacity), ready_(callbacks) {}

  void push(LocalIndex callback, Key key) {
    if (waiting_.empty(callback)) ready_.insert(callback, key);
    waiting_.push_back(callback, std::move(key));
  }

  /// Returns an instance to its place before all others of its callback.
  void push_front(LocalIndex callback, Key key) {
    ready_.insert(callback, key);
    waiting_.push_front(callback, std::move(key));
  }

  /// The key of the instance that pop() would take.
  [[nodiscard]] std::optional<Key> top() const {
    if (ready_.empty()) return std::nullopt;
    return ready_.key(ready_.top());
  }

  /// Takes out the oldest instance of the first callback; false: there is none.
  bool pop(LocalIndex& callback) {
    if (ready_.empty()) return false;
    callback = ready_.top();
    withdraw(callback);
    return true;
  }

  /// Removes the oldest instance of a callback that has one.
  void withdraw(LocalIndex callback) {
    waiting_.pop_front(callback);
    if (waiting_.empty(callback)) {
      ready_.remove(callback);
    } else {
      ready_.insert(callback, waiting_.front(callback));
    }
  }

  /// Whether pop() would give nothing.
  [[nodiscard]] bool empty() const { return ready_.empty(); }

  [[nodiscard]] bool is_held(LocalIndex callback) const { return ready_.is_held(callback); }
  void hold(LocalIndex callback) { ready_.hold(callback); }
  void resume(LocalIndex callback) { ready_.resume(callback); }

 private:
  WaitingLists<Key> waiting_;
  HoldableHeap<Key> ready_;
};

}  // namespace takt::scheduling
