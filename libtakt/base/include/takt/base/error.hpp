#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace takt {

/// A fault that a user can correct: one line that says what is wrong, where, and how to mend it.
/// Broken internal invariants are assertions, never an Error.
struct Error {
  std::string message;
};

/// A value, or the Error that prevented it. tl::expected stands in for C++23's std::expected.
template <typename T>
using Result = tl::expected<T, Error>;

/// An Error from a format string and its arguments, ready to be returned from a function that
/// returns a Result.
template <typename... Args>
[[nodiscard]] tl::unexpected<Error> error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace takt
