#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <utility>

#include "takt/base/error.hpp"

/// What the files of the extensions share.
namespace takt::native {

/// A takt::Error on its way to Python, where it is takt_native.InputError with the same message.
/// takt_native makes it that for all extensions, which import it therefore.
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

// What defines the functions and classes of takt_native; each is in the file of its name.
void bind_aging(nanobind::module_& module);
void bind_analysis(nanobind::module_& module);
void bind_budget(nanobind::module_& module);
void bind_capture(nanobind::module_& module);
void bind_flow(nanobind::module_& module);
void bind_goals(nanobind::module_& module);
void bind_live(nanobind::module_& module);
void bind_manager(nanobind::module_& module);
void bind_merging(nanobind::module_& module);
void bind_model(nanobind::module_& module);
void bind_semantics(nanobind::module_& module);
void bind_trace(nanobind::module_& module);
void bind_viewer(nanobind::module_& module);

}  // namespace takt::native
