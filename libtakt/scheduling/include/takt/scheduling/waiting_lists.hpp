#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "takt/scheduling/policy.hpp"

namespace takt::scheduling {

/// One first-in-first-out list of items per callback, all in one pool of memory. O(1) each; the
/// pool grows only if more items wait at once than it was made for.
template <typename Item>
class WaitingLists {
 public:
  WaitingLists(std::size_t callbacks, std::size_t capacity) : lists_(callbacks) {
    nodes_.reserve(capacity);
  }

  [[nodiscard]] bool empty(LocalIndex callback) const {
    return lists_[callback.value()].first == none;
  }

  [[nodiscard]] Item& front(LocalIndex callback) {
    assert(!empty(callback));
    return nodes_[lists_[callback.value()].first].item;
  }

  void push_back(LocalIndex callback, Item item) {
    const std::uint32_t node = new_node(std::move(item));
    List& list = lists_[callback.value()];
    (list.first == none ? list.first : nodes_[list.last].next) = node;
    list.last = node;
  }

  void push_front(LocalIndex callback, Item item) {
    const std::uint32_t node = new_node(std::move(item));
    List& list = lists_[callback.value()];
    if (list.first == none) list.last = node;
    nodes_[node].next = list.first;
    list.first = node;
  }

  void pop_front(LocalIndex callback) {
    assert(!empty(callback));
    std::uint32_t& first = lists_[callback.value()].first;
    const std::uint32_t node = first;
    first = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
  }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Node {
    Item item;
    std::uint32_t next = none;
  };

  struct List {
    std::uint32_t first = none;
    std::uint32_t last = none;
  };

  std::uint32_t new_node(Item item) {
    if (free_ == none) {
      nodes_.push_back({std::move(item), none});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {std::move(item), none};
    return node;
  }

  std::vector<List> lists_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = none;
};

}  // namespace takt::scheduling
