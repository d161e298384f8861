#pragma once

#include <vector>

#include "takt/base/index.hpp"

namespace takt {

/// Returns the element at `index`, after growing the list if it is too short. This is called for
/// every event, and lists seldom grow: growing stays out of line.
template <typename Element, typename Tag>
Element& grow_to(std::vector<Element>& list, Index<Tag> index) {
  if (index.value() >= list.size()) [[unlikely]] {
    const auto grow = [&] [[gnu::cold, gnu::noinline]] { list.resize(index.value() + 1); };
    grow();
  }
  return list[index.value()];
}

/// Returns the element at `index`, or an empty one if the list is too short.
template <typename Element, typename Tag>
Element value_at(const std::vector<Element>& list, Index<Tag> index) {
  return index.value() < list.size() ? list[index.value()] : Element{};
}

}  // namespace takt
