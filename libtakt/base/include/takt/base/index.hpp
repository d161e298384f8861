#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace takt {

/// The position of an object in its owner's array, typed by what it counts, so that a callback's
/// index cannot be taken for an executor's.
template <typename Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::size_t value) : value_(static_cast<std::uint32_t>(value)) {}

  [[nodiscard]] constexpr std::size_t value() const { return value_; }
  constexpr auto operator<=>(const Index&) const = default;

 private:
  std::uint32_t value_ = 0;
};

}  // namespace takt

template <typename Tag>
struct std::hash<takt::Index<Tag>> {
  std::size_t operator()(const takt::Index<Tag>& index) const noexcept { return index.value(); }
};
