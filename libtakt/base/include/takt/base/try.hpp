#pragma once

#include <utility>

#include "takt/base/error.hpp"

namespace takt {

template <typename T>
T value_of_tried(Result<T>&& result) {
  return *std::move(result);
}
inline void value_of_tried(Result<void>&& /*result*/) {}

}  // namespace takt

/// The value of a Result; if there is none, the function around it returns the Error:
/// `const Model model = TAKT_TRY(read(path));`. It is a whole statement, initialiser or right side,
/// so that nothing else of the expression is lost. Errors that need a word about the place are
/// returned by hand.
#define TAKT_TRY(...)                                                      \
  __extension__({                                                          \
    auto takt_tried = (__VA_ARGS__);                                       \
    if (!takt_tried) return tl::unexpected(std::move(takt_tried).error()); \
    takt::value_of_tried(std::move(takt_tried));                           \
  })
