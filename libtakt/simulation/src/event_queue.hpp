#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::simulation {

/// What happens at an instant, in the order in which simultaneous things happen: what ends comes
/// before what begins.
enum class EventKind : std::uint8_t {
  completion,
  processors,
  resumption,
  message,
  activation,
  wake_up
};

struct Event {
  Instant when;
  EventKind kind = EventKind::completion;
  /// The smallest comes first among simultaneous events of one kind.
  std::uint64_t subject = 0;
};

/// A heap of four branches: flatter, and so quicker, than one of two. O(log n).
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& top() const { return heap_.front(); }

  /// Stores the fields one by one: an event that is put together and then copied whole would wait
  /// until its smallest field has reached memory.
  void push(Instant when, EventKind kind, std::uint64_t subject) {
    std::size_t place = heap_.size();
    heap_.emplace_back();
    for (; place > 0; place = (place - 1) / branches) {
      const Event& parent = heap_[(place - 1) / branches];
      if (!precedes(when, kind, subject, parent)) break;
      heap_[place] = parent;
    }
    heap_[place].when = when;
    heap_[place].kind = kind;
    heap_[place].subject = subject;
  }

  void pop() {
    const Event moving = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t place = 0;
    for (std::size_t first = 1; first < heap_.size(); first = branches * place + 1) {
      const std::size_t last = std::min(first + branches, heap_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < last; ++child) {
        if (precedes(heap_[child], heap_[least])) least = child;
      }
      if (!precedes(heap_[least], moving)) break;
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = moving;
  }

 private:
  static constexpr std::size_t branches = 4;

  static bool precedes(Instant when, EventKind kind, std::uint64_t subject, const Event& other) {
    if (when != other.when) return when < other.when;
    if (kind != other.kind) return kind < other.kind;
    return subject < other.subject;
  }
  static bool precedes(const Event& a, const Event& b) {
    return precedes(a.when, a.kind, a.subject, b);
  }

  std::vector<Event> heap_;
};

}  // namespace takt::simulation
