#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// A way to choose blocks, with the data structure that it is made for.
struct Rule {
  std::string_view name;
  /// `granule` is a power of two, and `range` a multiple of it of at least eight.
  std::unique_ptr<Allocator> (*make)(Bytes range, Bytes granule);
  /// Whether the range is one free block again when everything is released.
  bool unites = true;
  /// The most that one call does: a word for the experiment's table.
  std::string_view worst_case;
};

/// All of them.
[[nodiscard]] std::span<const Rule> rules();
/// Null: there is none of that name.
[[nodiscard]] const Rule* find_rule(std::string_view name);

}  // namespace takt::allocation
