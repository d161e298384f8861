#pragma once

#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Messages that executors keep at addresses of their processes until they choose them. Holds at
/// most `capacity` messages; beyond that, the one kept longest is forgotten. O(log capacity).
template <typename Value>
class KeptMessages {
 public:
  explicit KeptMessages(std::size_t capacity) : capacity_(capacity) {}

  /// Tells which kept value was lost to make room.
  enum class Lost { nothing, oldest, same_address };

  Lost keep(ProcessIndex process, Handle address, Value value) {
    const Key key{process, address};
    Lost lost = Lost::nothing;
    if (const auto same = positions_.find(key); same != positions_.end()) {
      order_.erase(same->second);
      positions_.erase(same);
      lost = Lost::same_address;
    } else if (order_.size() == capacity_) {
      positions_.erase(order_.front().first);
      order_.pop_front();
      lost = Lost::oldest;
    }
    order_.emplace_back(key, std::move(value));
    positions_.emplace(key, std::prev(order_.end()));
    return lost;
  }

  std::optional<Value> take(ProcessIndex process, Handle address) {
    const auto found = positions_.find({process, address});
    if (found == positions_.end()) {
      return std::nullopt;
    }
    std::optional<Value> value(std::move(found->second->second));
    order_.erase(found->second);
    positions_.erase(found);
    return value;
  }

 private:
  using Key = std::pair<ProcessIndex, Handle>;
  using Order = std::list<std::pair<Key, Value>>;

  std::size_t capacity_;
  Order order_;  // the oldest first
  std::map<Key, typename Order::iterator> positions_;
};

}  // namespace takt::execution
