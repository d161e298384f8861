#pragma once

#include <vector>

#include "takt/base/index.hpp"

namespace takt {

/// The element of a list that grows with the largest index asked for. Every event asks for some,
/// and lists seldom grow: that part stays out of line.
template <typename Element, typename Tag>
Element& grow_to(std::vector<Element>& list, Index<Tag> index) {
  if (index.value() >= list.size()) [[unlikely]] {
    const auto grow = [&] [[gnu::cold, gnu::noinline]] { list.resize(index.value() + 1); };
    grow();
  }
  return list[index.value()];
}

/// The element of such a list, or an empty one if nobody asked for it yet.
template <typename Element, typename Tag>
Element value_at(const std::vector<Element>& list, Index<Tag> index) {
  return index.value() < list.size() ? list[index.value()] : Element{};
}

}  // namespace takt
