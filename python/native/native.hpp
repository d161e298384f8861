#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>

#include "takt/base/error.hpp"

/// What the binding files of takt_native share.
namespace takt::native {

/// A takt::Error on its way to Python, where it is takt_native.InputError with the same message.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value of a result. Throws InputError if there is none; needs no GIL.
template <typename T>
T unwrap(Result<T> result) {
  if (!result) {
    throw InputError(result.error().message);
  }
  return std::move(*result);
}

inline void unwrap(const Result<void>& result) {
  if (!result) {
    throw InputError(result.error().message);
  }
}

}  // namespace takt::native
